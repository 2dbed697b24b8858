import RelayCore

extension Attempt {
    /// What an answer's own fields say of an attempt that stands in the store.
    init(_ record: JobAttemptRecord) {
        self.init(
            number: record.number,
            upstream: record.upstream,
            began: Instant(nanoseconds: 0),
            duration: record.duration
        )
        status = record.status
        if let kind = record.failureKind {
            failure = Failure(kind, sent: record.sent, record.detail ?? kind.rawValue, status: record.status)
        }
    }
}
