import RelayCore
import Testing

@testable import RelayServer

@Suite("The options that the head of a stream asks for")
struct StreamOptionsTests {
    @Test(
        "The parameters",
        arguments: [
            ("", "completion 8"), ("?", "completion 8"), ("?&&", "completion 8"),
            ("?order=input", "input 8"), ("?max_in_flight=1", "completion 1"),
            ("?max_in_flight=64&order=completion", "completion 64"), ("?&order=input&", "input 8"),
            ("?max_in_flight=0", "bad_target"), ("?max_in_flight=65", "bad_target"),
            ("?max_in_flight=-1", "bad_target"), ("?max_in_flight=8.0", "bad_target"),
            ("?max_in_flight=+5", "bad_target"), ("?max_in_flight=%2B5", "bad_target"),
            ("?max_in_flight=%35", "completion 5"),
            ("?max_in_flight=99999999999999999999", "bad_target"), ("?max_in_flight=", "bad_target"),
            ("?order", "bad_target"), ("?order=Input", "bad_target"), ("?order=input=", "bad_target"),
            ("?order=input&order=input", "bad_target"), ("?ORDER=input", "bad_target"),
            ("?=input", "bad_target"), ("?order%00=input", "bad_target"),
            ("?" + String(repeating: "x", count: 4_000), "bad_target"),
        ]
    )
    func parameters(query: String, outcome expected: String) throws {
        #expect(try read("/v1/stream" + query) == expected)
    }

    @Test(
        "The fields: the type of its lines, and none that belongs to a single job",
        arguments: [
            ("Content-Type: application/x-ndjson", "completion 8"),
            ("Content-Type: Application/X-NDJSON; charset=utf-8", "completion 8"),
            ("Content-Type: application/x-ndjson\t;a", "completion 8"),
            ("Content-Type: application/json", "unsupported_media_type"),
            ("Content-Type: application/x-ndjsonp", "unsupported_media_type"),
            ("Content-Type:", "unsupported_media_type"), ("X-Waystation: yes", "completion 8"),
            ("Prefer: wait=5", "completion 8"), ("Idempotency-Key: \"k\"", "bad_header"),
            ("WAYSTATION-TIMEOUT: 2s", "bad_header"), ("waystation-: x", "bad_header"),
        ]
    )
    func fields(field: String, outcome expected: String) throws {
        #expect(try read("/v1/stream", [field]) == expected)
    }

    private func read(_ target: String, _ fields: [String] = []) throws -> String {
        let head = try head(target, ["Host: a"] + fields, method: "POST")
        return try outcome {
            let options = try StreamOptions(head)
            return "\(options.order.rawValue) \(options.maxInFlight)"
        }
    }
}
