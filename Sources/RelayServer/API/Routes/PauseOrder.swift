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
                guard let text = reader.text(value, "/reason") else { return }
                if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                    reader.fail("/reason", "a reason has no control characters")
                }
                reason = text
            } else {
                duration = reader.duration(value, "/for", PauseOrder.durations)
            }
        }
        try reader.check("the pause", or: .badRequest)
    }
}
