import RelayBase
import Testing

@testable import waystation

@Suite("Text for people")
struct TextTests {
    @Test("columns are as wide as their widest cell, numbers stand to the right")
    func table() {
        var table = TextTable([("ROUTE", .left), ("REQUESTS", .right), ("NOTE", .left)])
        table.add(["a", "1", "–"])
        table.add(["billing", "10000", "x"])
        #expect(
            table.text { $0 } == """
                ROUTE    REQUESTS  NOTE
                a               1  –
                billing     10000  x

                """
        )
    }

    @Test("spans are short", arguments: spans)
    func shortSpans(milliseconds: Double, text: String) {
        #expect(DurationText.short(milliseconds: milliseconds) == text)
    }

    @Test(
        "decimals are rounded and padded",
        arguments: [(1.005, 2, "1.00"), (0.04, 1, "0.0"), (9.96, 1, "10.0")]
    )
    func decimals(value: Double, count: Int, text: String) {
        #expect(DurationText.decimals(value, count) == text)
    }

    @Test("text from elsewhere cannot act on the terminal")
    func escapes() {
        #expect(safe("a\u{1B}[31mb\nc\u{202E}d") == "a\\u{1b}[31mb\\u{a}c\\u{202e}d")
    }
}

private let spans: [(Double, String)] = [
    (0, "0.0ms"), (0.42, "0.4ms"), (12.4, "12ms"), (999, "999ms"), (1250, "1.25s"), (59_990, "59.99s"),
    (90_000, "1m 30s"), (18_000_000, "5h 0m"), (273_600_000, "3d 4h"), (-5, "0.0ms"),
    (.infinity, "115740d 17h"),
]
