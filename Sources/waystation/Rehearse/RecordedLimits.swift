import RelayInterface

/// The bounds of jobs on record: the one that all jobs of a route share is taken for the route's.
///
/// Where they are unlike, the one that most have may be their callers' as well as the route's, and any other is its caller's.
struct RecordedLimits {
    /// A bound on record that may be the caller's own.
    struct Doubtful {
        var attempts: Int?
        /// In milliseconds since 1970 UTC.
        var expires: Int64?

        func isBeyond(_ count: Int, until moment: Int64) -> Bool {
            count > attempts ?? .max || moment > expires ?? .max
        }
    }

    private var attempts: [Bool: Int] = [:]
    private var span: Int64?
    /// Whether jobs that are kept, or are not, have unlike bounds.
    private var hasUnlike: [Bool: Bool] = [:]
    private var hasUnlikeSpans = false

    /// Whether all jobs of the route that are on record are among those that were read.
    let isWhole: Bool

    init(_ jobs: [Job], isWhole: Bool = true) {
        self.isWhole = isWhole
        for isDurable in [false, true] {
            let all = jobs.filter { $0.isDurable == isDurable }.compactMap(\.maxAttempts)
            attempts[isDurable] = Self.commonest(all)
            hasUnlike[isDurable] = Set(all).count > 1
        }
        let spans = jobs.compactMap(Self.span)
        span = Self.commonest(spans)
        hasUnlikeSpans = Set(spans).count > 1
    }

    /// The bounds of the job that nobody knows to be the route's or its caller's.
    func doubtful(_ job: Job) -> Doubtful {
        var doubtful = Doubtful()
        if hasUnlike[job.isDurable] == true, maxAttempts(job) == nil { doubtful.attempts = job.maxAttempts }
        if hasUnlikeSpans, expires(job) == nil { doubtful.expires = job.expiresAt?.milliseconds }
        return doubtful
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
