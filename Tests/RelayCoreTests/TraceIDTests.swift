import RelayCore
import Testing

@Suite("The trace a request belongs to")
struct TraceIDTests {
    @Test("Is read from a traceparent")
    func reads() {
        let trace = TraceID(parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        #expect(trace?.text == "4bf92f3577b34da6a3ce929d0e0e4736")
        // A later version may have more behind it.
        #expect(TraceID(parent: "cc-00000000000000000000000000000001-00f067aa0ba902b7-01-more")?.low == 1)
    }

    @Test(
        "Is none where it is malformed, stands for none, or is not recorded",
        arguments: [
            "", "00", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 01",
            String(repeating: "é", count: 40), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902g7-01",
        ]
    )
    func refuses(_ text: String) { #expect(TraceID(parent: text) == nil) }
}
