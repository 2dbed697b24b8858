package import RelayBase

/// Makes of the ending of a kept job the job of another route that tells of it (`delivery.notify`).
///
/// A store asks on a thread of its own, within the transaction of the ending, perhaps more than once: so nothing may wait
/// in it, and what it says goes by its arguments and the configuration in force.
package struct NoticeMaker: Sendable {
    /// The wish of that route about such an ending.
    package var wish: @Sendable (_ route: String, JobState) -> Wish = { _, _ in .owed }
    /// The job that tells of it; nil where none can be made now.
    package var make: @Sendable (WholeJob) -> NewJob? = { _ in nil }

    package init() {}

    /// The operator's line about jobs that were removed while they owed their notices, named as far as that is known.
    package static func lost(_ jobs: [String]) -> String {
        let rest = jobs.count > 1 ? " and \(jobs.count - 1) others were" : " was"
        return
            "job \(jobs.first ?? "")\(rest) removed before anybody was told of its ending (delivery.notify)"
    }

    package enum Wish: Sendable {
        /// Nobody is to be told.
        case nothing
        /// Somebody is, and how cannot be known here or now.
        case owed
        /// Somebody is to be told so much of the job.
        case notice(WholeJob.Extent)
    }
}

extension JobRecord.Submitter {
    /// The submitter of all notices: the kernel gives no process this user, so that they are in nobody's share and nobody's
    /// to read or to end without the role for it; every version counts them by it.
    package static let ofNotices = JobRecord.Submitter(user: .max, unit: nil)
}

/// A notice that is on disk, and the job of whose ending it tells.
package struct MadeNotice: Sendable {
    package var notice: JobRecord
    package var job: JobID
    package var route: String

    package init(_ notice: JobRecord, of job: JobID, _ route: String) {
        self.notice = notice
        self.job = job
        self.route = route
    }
}

extension JobID {
    /// The id of the notice of a job's ending, which nothing but the two decides: the second of one ending is the first.
    package func notice(_ number: Int) -> JobID {
        let count = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
        let first = JobID.mixed(high ^ count)
        return JobID(milliseconds: milliseconds, random: (first, JobID.mixed(low ^ first)))
    }

    /// The idempotency key of that notice, by which an upstream can tell it from others.
    package func noticeKey(_ number: Int) -> String { number > 1 ? "\(self)-\(number)" : "\(self)" }

    /// The job whose ending a notice with that key tells of.
    package init?(ofNoticeWithKey key: String) { self.init(text: String(key.prefix(26))) }

    /// The finalizer of SplitMix64, by which each bit of the input decides on all of the result.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
