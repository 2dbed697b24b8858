public import RelayBase
import RelayRoute

/// An answer a program has ready for when the upstream gives none: all of it in memory.
public struct CannedAnswer: Sendable {
    /// The status: 200 to 599; a service refuses a policy with another.
    public var status: Status
    /// The fields.
    public var fields: HeaderFields
    /// The content.
    public var bytes: [UInt8]

    /// Makes an answer; 200 without fields and content unless they are given.
    public init(
        status: Status = 200,
        fields: HeaderFields = HeaderFields(),
        bytes: some Sequence<UInt8> = []
    ) {
        self.status = status
        self.fields = fields
        self.bytes = Array(bytes)
    }
}

extension CannedResponse {
    init(_ answer: CannedAnswer, as source: StandIn) {
        self.init(source: source, status: answer.status, fields: answer.fields.pairs, body: answer.bytes)
    }
}
