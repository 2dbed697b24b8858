import RelayCore
import RelayEngine
import RelayJSON

/// What `POST /v1/routes/{route}/pause` says, read strictly.
struct PauseOrder {
    private(set) var reason = "an operator paused it"
    private(set) var duration: Duration?

    /// No document says nothing.
    init(_ document: [UInt8]) throws(Problem) {
        guard !document.isEmpty else { return }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: document)
        } catch {
            throw Problem(.badRequest, "the pause is not JSON: \(error.message) at byte \(error.offset)")
        }
        var reader = SubmissionReader()
        reader.members(value, "", ["reason", "for"]) { reader, name, value in
            if name == "reason" {
                guard let text = reader.text(value, "/reason") else { return }
                if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                    reader.fail("/reason", "a reason has no control characters")
                }
                reason = text
            } else {
                duration = reader.duration(value, "/for", .seconds(1)...(.seconds(365 * 86_400)))
            }
        }
        guard reader.errors.isEmpty else {
            var problem = Problem(.badRequest, "the pause has \(reader.count); see errors")
            problem.errors = reader.errors
            throw problem
        }
    }
}
