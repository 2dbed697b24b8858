import Testing

@testable import RelayServer

@Suite("The terms of a pause")
struct PauseOrderTests {
    private static let long = String(repeating: "é", count: 128)

    @Test(
        "A reason for people and a bounded time, both of them optional",
        arguments: [
            ("", "an operator paused it, until resumed"), ("{}", "an operator paused it, until resumed"),
            (#"{"reason":"rölls out \"v2\""}"#, "rölls out \"v2\", until resumed"),
            (#"{"for":"1s"}"#, "an operator paused it, 1.0 seconds"),
            (#"{"for":"365d","reason":"x"}"#, "x, 31536000.0 seconds"),
            ("{\"reason\":\"\(long)\"}", "\(long), until resumed"),
            ("{\"reason\":\"\(long)x\"}", "bad_request /reason"),
            (#"{"reason":"a\u007f"}"#, "bad_request /reason"),
            (#"{"reason":"a\nb","for":"999ms"}"#, "bad_request /reason /for"),
            (#"{"reason":null}"#, "bad_request /reason"),
            (#"{"for":"366d"}"#, "bad_request /for"), (#"{"for":null}"#, "bad_request /for"),
            (#"{"for":"-1s"}"#, "bad_request /for"), (#"{"four":"1s"}"#, "bad_request /four"),
            (#"{"for":"1s","for":"2s"}"#, "bad_request"), (" ", "bad_request"), ("null", "bad_request "),
            ("\"1s\"", "bad_request "), ("{\"reason\":\"\u{FFFD}\"", "bad_request"),
        ]
    )
    func read(document: String, outcome expected: String) throws {
        let read = try outcome {
            let order = try PauseOrder(Array(document.utf8))
            return "\(order.reason), \(order.duration.map { "\($0)" } ?? "until resumed")"
        }
        #expect(read == expected)
    }
}
