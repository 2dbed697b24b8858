import RelayBase
import RelayJSON
import RelayRoute
import Synchronization

/// A JSON document with an answer's content in it, which is encoded as it leaves: a large one is in memory once.
struct AnswerDocument: Sendable {
    private var head: [UInt8]
    private let content: JSONContent?
    private var tail: [UInt8]
    /// Whether line breaks between the tokens of the content have to go: a line is the unit of a stream.
    private let isLine: Bool
    /// The memory the content takes, until it has left.
    private let reservation: MemoryReservation?
    /// Bytes of the content that have left.
    private var position = 0
    private var isOver = false
    /// Whether any of it has left.
    private(set) var isBegun = false

    /// Bytes of content that are encoded at once; a multiple of three, for base 64.
    private static let step = 49_152

    /// `json` has a gap where the content belongs.
    init(
        _ json: JSONObjectWriter,
        _ content: JSONContent? = nil,
        isLine: Bool = false,
        reservation: MemoryReservation? = nil
    ) {
        (head, tail) = json.parts
        if isLine { if content == nil { head.append(0x0A) } else { tail.append(0x0A) } }
        self.content = content
        self.isLine = isLine
        self.reservation = reservation
    }

    /// A line whose parts around the content are written already.
    init(head: [UInt8], _ content: JSONContent, tail: [UInt8]) {
        (self.head, self.tail) = (head, tail)
        self.content = content
        isLine = true
        reservation = nil
    }

    var length: Int { head.count + (content?.length ?? 0) + tail.count }

    /// The next piece, of a small document the only one; nil at the end.
    mutating func next() -> [UInt8]? {
        guard !isOver else { return nil }
        isBegun = true
        var piece = head
        head = []
        guard let content else {
            isOver = true
            return piece
        }
        let end = min(content.bytes.count, position + AnswerDocument.step)
        content.append(position..<end, asLine: isLine, to: &piece)
        position = end
        if end == content.bytes.count {
            isOver = true
            piece += tail
        }
        return piece
    }
}

/// The same as the body of an answer.
final class DocumentBody: BodySource {
    let length: UInt64?
    private let document: Mutex<AnswerDocument>

    init(_ document: AnswerDocument) {
        length = UInt64(document.length)
        self.document = Mutex(document)
    }

    var wasRead: Bool { document.withLock { $0.isBegun } }

    func next() async throws(Failure) -> [UInt8]? { document.withLock { $0.next() } }

    func cancel() {}
}
