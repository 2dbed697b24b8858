/// Why a value is not taken, and what to write instead; never the value itself.
public struct Refusal: Error, Sendable, CustomStringConvertible {
    /// The mistake, in words for whoever wrote the value.
    public let message: String
    /// The advice on what to do about it; nil when the message says it all.
    public let hint: String?

    /// Refuses a value with those words.
    public init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// Message and hint.
    public var description: String { hint.map { "\(message): \($0)" } ?? message }
}
