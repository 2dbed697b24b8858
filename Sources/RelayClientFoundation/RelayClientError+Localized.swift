public import FoundationEssentials
public import RelayClient

extension RelayClientError: LocalizedError {
    /// The message; safe to show anywhere.
    public var errorDescription: String? { message }
}
