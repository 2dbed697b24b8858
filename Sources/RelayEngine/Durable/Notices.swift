import RelayBase
import RelayCore
package import RelayJobs
package import RelayRoute
import Synchronization

/// Tells other routes how kept jobs end, as `delivery.notify` has it: makes the notices that a store keeps with the endings,
/// and counts those that are on disk.
package final class Notices: Sendable {
    private let engine: Engine
    private let announcer: Announcer
    private let capacity: QueueCapacity
    /// The document of a job that is over, with these bodies.
    private let document: @Sendable (WholeJob, [NoticeSettings.Content]) -> [UInt8]
    /// Since the start, by the route of the jobs.
    private let counts = Mutex<[String: UInt64]>([:])
    /// Endings of jobs that were to be told of, by their routes, which tell nobody any more.
    private let waived = Mutex<[String: Waived]>([:])

    private struct Waived {
        var count = 0
        var isTold = false
    }

    /// Attempts in a document; a job may have had any number.
    private static let attemptLimit = 100

    package init(
        _ audience: Listeners,
        _ announcer: Announcer,
        document: @escaping @Sendable (WholeJob, [NoticeSettings.Content]) -> [UInt8]
    ) {
        engine = audience.engine
        capacity = audience.capacity
        self.announcer = announcer
        self.document = document
    }

    package var maker: NoticeMaker {
        var maker = NoticeMaker()
        maker.wish = { [self] route, state in wish(route, state) }
        maker.make = { [self] job in notice(of: job) }
        return maker
    }

    /// Notices that are on disk since the start, by the route whose jobs they tell of.
    package var made: [String: UInt64] { counts.withLock { $0 } }

    /// Tells of notices that are on disk; called on any thread.
    package func made(_ notices: [MadeNotice]) {
        for made in notices {
            counts.withLock { $0[made.route, default: 0] += 1 }
            let (record, user) = (made.notice, made.notice.submitter)
            let change = JobChange(
                id: record.id,
                route: record.route,
                user: user?.user,
                on: user?.node ?? .none,
                state: .queued
            )
            announcer.record(.accepted(JobReport(change)))
        }
    }

    /// The routes that tell nobody any more, each once, with the number of their jobs' endings so far of which nobody is told.
    func takeWaived() -> [(route: String, count: Int)] {
        waived.withLock { waived in
            let news = waived.filter { !$0.value.isTold }.sorted { $0.key < $1.key }
            for (route, _) in news { waived[route]?.isTold = true }
            return news.map { ($0.key, $0.value.count) }
        }
    }

    /// A route that is gone may come back; one that tells nobody any more has its reasons.
    private func wish(_ name: String, _ state: JobState) -> NoticeMaker.Wish {
        let snapshot = engine.snapshot
        guard let route = snapshot.routes[name]?.route else { return .owed }
        guard let settings = route.policy.delivery.notices else {
            waived.withLock { $0[name, default: Waived()].count += 1 }
            return .nothing
        }
        waived.withLock { $0[name] = nil }
        guard let ending = NoticeSettings.Ending(rawValue: state.name), settings.endings.contains(ending)
        else { return .nothing }
        guard snapshot.routes[settings.route] != nil, capacity.takesNotice else { return .owed }
        return .notice(
            WholeJob.Extent(attempts: Notices.attemptLimit, hasBodies: settings.contents.contains(.request))
        )
    }

    private func notice(of whole: WholeJob) -> NewJob? {
        let (job, snapshot) = (whole.job, engine.snapshot)
        guard let settings = snapshot.routes[job.record.route]?.route.policy.delivery.notices,
            let target = snapshot.routes[settings.route]?.route
        else { return nil }
        let delivery = target.policy.delivery
        let key = job.record.id.noticeKey(job.notices)
        var fields = HeaderFields()
        _ = fields.append(.contentType, "application/json")
        _ = fields.append(target.keyField, key)
        let trace = job.record.trace
        for (name, value) in [
            (FieldName.traceparent, trace.parent), (.tracestate, trace.state), (.baggage, trace.baggage),
        ] {
            if let value { _ = fields.append(name, value) }
        }
        return NewJob(
            JobRecord(
                id: job.record.id.notice(job.notices),
                route: target.name,
                method: .post,
                target: "",
                fields: fields,
                priority: job.record.priority,
                idempotencyKey: key,
                submitter: .ofNotices,
                mayRepeat: target.mayRepeatAfterCrash(.post, fields),
                asksFirst: target.asks,
                isNotice: true,
                trace: trace
            ),
            body: .bytes(document(whole, settings.contents)),
            expiresAfter: delivery.expiresAfter,
            dropsContent: delivery.keepsRequests == .never
        )
    }
}
