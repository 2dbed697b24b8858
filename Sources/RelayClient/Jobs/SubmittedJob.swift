/// A job the relay has on disk.
public struct SubmittedJob: Hashable, Sendable {
    /// 26 letters and digits.
    public let id: String
    /// Whether the idempotency key was known: the job is an earlier one, and nothing was accepted anew.
    public let isReplayed: Bool
}
