import RelayServer
import Testing

@Suite("Lines of a stream")
struct LineSplitterTests {
    /// The lines that come of `pieces`, one after the other; `nil` stands for a line that is too long.
    private func lines(_ pieces: [String], limit: Int = 100) -> [String?] {
        var splitter = LineSplitter(limit: limit)
        var found: [LineSplitter.Line] = []
        for piece in pieces {
            splitter.feed(Array(piece.utf8))
            while let line = splitter.next() { found.append(line) }
        }
        if let last = splitter.finish() { found.append(last) }
        return found.map { line in
            switch line {
            case .line(let bytes): String(decoding: bytes, as: UTF8.self)
            case .tooLong: nil
            }
        }
    }

    private static let text = "{\"a\":1}\r\n\n  \t \r\n [2, 3] \n\nlonger than ten\nlast"

    @Test("However the bytes fall, the lines are the same", arguments: 0...text.utf8.count)
    func splitAnywhere(place: Int) {
        let bytes = Array(Self.text.utf8)
        let pieces = [bytes[..<place], bytes[place...]].map { String(decoding: $0, as: UTF8.self) }
        #expect(lines(pieces, limit: 10) == ["{\"a\":1}", "[2, 3]", nil, "last"])
    }

    @Test("Byte by byte is no different")
    func bytes() {
        #expect(lines(Self.text.map { String($0) }, limit: 10) == ["{\"a\":1}", "[2, 3]", nil, "last"])
    }

    @Test(
        "Blank lines are none, whatever they are made of and however long",
        arguments: ["", "\n", "\r\n\r\n", " \t\r \n", String(repeating: " ", count: 500), "\n\n\n"]
    )
    func blank(text: String) {
        #expect(lines([text]) == [])
        #expect(lines([text, "\nx\n", text]) == ["x"])
    }

    @Test("A line may have as many bytes as the limit, and not one more")
    func limit() {
        #expect(lines(["1234\n12345\n123456\n1\n"], limit: 5) == ["1234", "12345", nil, "1"])
        #expect(lines(["123", "45", "\n123", "456", "789\n"], limit: 5) == ["12345", nil])
    }

    @Test("A line without its line feed counts at the end, also one that is too long")
    func unfinished() {
        #expect(lines(["a\nb"]) == ["a", "b"])
        #expect(lines(["a\n1234567"], limit: 5) == ["a", nil])
        #expect(lines(["a\nb \r"]) == ["a", "b"])
    }

    @Test("Nothing comes of nothing")
    func empty() {
        #expect(lines([]) == [])
        #expect(lines(["", "", ""]) == [])
    }
}
