public import FoundationEssentials
public import RelayKit

extension Data: ContentInitializable {
    /// The content.
    public init(content: [UInt8]) { self.init(content) }
}

extension Failure: LocalizedError {
    /// Kind and detail, and where the attempt went; safe to show anywhere.
    public var errorDescription: String? { description }
}

extension Refusal: LocalizedError {
    /// Message and hint.
    public var errorDescription: String? { description }
}

extension Pairs where Value == String? {
    /// The items of a query.
    public init(_ items: some Sequence<URLQueryItem>) { self.init(items.map { ($0.name, $0.value) }) }
}
