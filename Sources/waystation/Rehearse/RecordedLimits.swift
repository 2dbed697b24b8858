import RelayInterface

/// The bounds of jobs on record: what most jobs of a route have is the route's, anything else their caller's own.
struct RecordedLimits {
    private var attempts: [Bool: Int] = [:]
    private var span: Int64?

    init(_ jobs: [Job]) {
        for isDurable in [false, true] {
            attempts[isDurable] = Self.commonest(
                jobs.filter { $0.isDurable == isDurable }.compactMap(\.maxAttempts)
            )
        }
        span = Self.commonest(jobs.compactMap(Self.span))
    }

    var hasSome: Bool { span != nil || !attempts.isEmpty }

    /// When the job expires by its caller's own word, in milliseconds since 1970 UTC.
    func expires(_ job: Job) -> Int64? {
        guard let own = Self.span(job), own != span else { return nil }
        return job.expiresAt?.milliseconds
    }

    /// The attempts that its caller lets it have; a caller's own bound is never the higher one.
    func maxAttempts(_ job: Job) -> Int? {
        guard let own = job.maxAttempts, let others = attempts[job.isDurable], own < others else {
            return nil
        }
        return own
    }

    private static func span(_ job: Job) -> Int64? {
        guard let expires = job.expiresAt, let created = job.createdAt else { return nil }
        return expires.milliseconds - created.milliseconds
    }

    /// The value that most have, the highest of several.
    private static func commonest<Value: Hashable & Comparable>(_ values: [Value]) -> Value? {
        Dictionary(grouping: values, by: \.self).max {
            ($0.value.count, $0.key) < ($1.value.count, $1.key)
        }?.key
    }
}
