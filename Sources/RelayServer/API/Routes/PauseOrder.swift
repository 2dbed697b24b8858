import RelayEngine
import RelayInterface
import RelayJSON

/// The order of a `POST /v1/routes/{route}/pause`, read strictly.
struct PauseOrder {
    private(set) var reason = "an operator paused it"
    private(set) var duration: Duration?

    /// How long a pause may last that ends by itself.
    static let durations: ClosedRange<Duration> = .seconds(1) ... .seconds(365 * 86_400)

    /// No document says nothing.
    init(_ document: [UInt8]) throws(Problem) {
        guard !document.isEmpty else { return }
        let value = try JSONValue(document, as: "the pause", or: .badRequest)
        var reader = SubmissionReader()
        reader.members(value, "", ["reason", "for"]) { reader, name, value in
            if name == "reason" {
                if let text = reader.reason(value) { reason = text }
            } else {
                duration = reader.duration(value, "/for", PauseOrder.durations)
            }
        }
        try reader.check("the pause", or: .badRequest)
    }
}

extension SubmissionReader {
    /// The words of whoever asks for something, as others are told them.
    mutating func reason(_ value: JSONValue) -> String? {
        guard let text = text(value, "/reason") else { return nil }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            fail("/reason", "a reason has no control characters")
        }
        return text
    }
}
