package import RelayBase
import RelayInterface
package import RelayJobs

extension Problem {
    /// The store did not answer in time.
    package static func stalled(_ route: String, hasKey: Bool = false, _ store: any JobStore) -> Problem {
        let again =
            hasKey
            ? "send it again with the same key: it is the same job, or takes its place"
            : "as far as is known the job was not accepted: send it again"
        return stalled("takes no writes at the moment; \(again)", store, route: route)
    }

    /// The store did not do in time what somebody asked of the jobs or routes.
    static func stalled(hasBegun: Bool, _ store: any JobStore) -> Problem {
        // A disk does in the end what it was given; a database may have lost it.
        let begun =
            store.member == nil
            ? "is carried out as soon as it does, unless the relay ends before" : "may be carried out"
        let rest =
            hasBegun ? "what was asked \(begun); look before you ask again" : "nothing was done; ask again"
        return stalled("takes no writes at the moment; \(rest)", store, route: nil)
    }

    /// The store does not give what was kept.
    package static func unreadNow(_ store: any JobStore) -> Problem {
        stalled("does not answer at the moment; ask again", store, route: nil)
    }

    private static func stalled(_ what: String, _ store: any JobStore, route: String?) -> Problem {
        let medium = store.member == nil ? "disk" : "database"
        return Problem(
            .storageStalled,
            "the \(medium) of the job store \(what)",
            route: route,
            retryAfter: .seconds(5)
        )
    }

    /// The problem that a caller is told when the store could not do what was asked.
    package init(_ error: StoreError, route: String? = nil, job: JobID? = nil) {
        let (code, wait): (Code, Duration?) =
            switch error.code {
            case .full: (.storageFull, .seconds(60))
            // The disk will not hold it later either.
            case .corrupt: (.storageCorrupt, nil)
            // The one that says that it may be done all the same.
            case .stalled, .unknown: (.storageStalled, .seconds(5))
            case .unavailable: (.storageUnavailable, .seconds(5))
            case .newerSchema, .locked, .directory, .foreign, .failed, .slow, .gone, .closed:
                (.storageFailed, .seconds(5))
            }
        let doubt = error.code == .unknown ? "; it may have been done: look before you ask again" : ""
        self.init(code, error.message + doubt, route: route, job: job, retryAfter: wait)
    }

    /// The problem that a caller is told whose job the store did not take, or may have taken.
    init(_ error: StoreError, accepting job: NewJob) {
        guard error.code == .unknown else {
            self.init(error, route: job.record.route)
            return
        }
        self = .unknown(error.message, job)
    }

    /// Whether the job was accepted is not known, and `reason` says why.
    static func unknown(_ reason: String, _ job: NewJob) -> Problem {
        let id = job.record.id
        let again = job.idempotency == nil ? "" : ", or send it again with the same key"
        let detail = "\(reason); whether the job was accepted is not known: ask for /v1/jobs/\(id)\(again)"
        return Problem(.acceptanceUnknown, detail, route: job.record.route, job: id)
    }

    static func noJob(_ id: JobID) -> Problem {
        Problem(.jobNotFound, "there is no job \(id); jobs are removed when their retention is over", job: id)
    }
}
