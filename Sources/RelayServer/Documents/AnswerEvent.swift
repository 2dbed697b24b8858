import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute
import Synchronization

/// A success that is no event stream, as the one event of one: for a caller whose head went out before it was there.
final class AnswerEvent: BodySource {
    /// Bytes of content that the event may bring.
    static let limit = 65_536

    private let outcome: Outcome
    private let response: HTTPResponse
    private let admission: Admission
    /// The room that its content takes.
    private let reservation: MemoryReservation
    private let isTold = Atomic<Bool>(false)

    init(
        _ outcome: Outcome,
        _ response: HTTPResponse,
        _ admission: Admission,
        _ reservation: MemoryReservation
    ) {
        (self.outcome, self.response, self.admission, self.reservation) = (
            outcome, response, admission, reservation
        )
    }

    var length: UInt64? { nil }
    var wasRead: Bool { false }

    func cancel() { if case .stream(let source) = response.body { source.cancel() } }

    /// All of it; the event says everything, so that nothing comes after it.
    func next() async throws(Failure) -> [UInt8]? {
        guard !isTold.exchange(true, ordering: .relaxed) else { return nil }
        let content = try await content()
        var json = JSONObjectWriter()
        json.members(of: EndedLine(line: 1, id: nil, admission: admission, outcome: outcome))
        if let content {
            JobAnswer.write(response, content, into: &json)
        } else {
            JobAnswer.writeHead(response.status, response.fields, into: &json)
        }
        var event = Array("event: waystation-answer\ndata: ".utf8)
        var document = AnswerDocument(json, content, isLine: true)
        while let piece = document.next() { event += piece }
        return event + [UInt8(ascii: "\n")]
    }

    /// Nil of one that is too large.
    private func content() async throws(Failure) -> JSONContent? {
        switch response.body {
        case .empty: return JSONContent([])
        case .bytes(let bytes): return bytes.count > AnswerEvent.limit ? nil : JSONContent(bytes)
        case .stream(let source):
            if source.length ?? 0 <= UInt64(AnswerEvent.limit) {
                let (bytes, isWhole) = try await source.beginning(limit: AnswerEvent.limit)
                if isWhole { return JSONContent(bytes) }
            }
            source.cancel()
            return nil
        }
    }
}
