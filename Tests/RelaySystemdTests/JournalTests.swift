import RelayJSON
import RelaySystemd
import Testing

@Suite("Journal")
struct JournalTests {
    @Test(
        "a stalled journal never holds the relay up, and the loss is told when it recovers",
        .timeLimit(.minutes(5))
    )
    func stalled() throws {
        let recorder = try Recorder<JournalRecord>(isStalled: true)
        let journal = Journal(capacity: 10) { recorder.take($0) }
        journal.record(JournalRecord(.info, nil, "first"))
        #expect(recorder.reachedValve.wait(milliseconds: 30_000))
        for number in 1...25 { journal.record(JournalRecord(.info, nil, "record \(number)")) }
        #expect(!journal.flush(milliseconds: 1))
        #expect(recorder.elements.isEmpty)
        #expect(journal.lost == 15)

        recorder.open()
        #expect(journal.flush(milliseconds: 30_000))
        let messages = recorder.elements.map(\.message)
        #expect(Array(messages.prefix(11)) == ["first"] + (1...10).map { "record \($0)" })
        let loss = try #require(recorder.elements.last)
        #expect(loss.message == "15 records were lost because the journal was too slow")
        #expect(loss.id == .recordsDropped)
        #expect(loss.fields.map(\.field.name) == ["COUNT"])
        #expect(loss.fields.map(\.value) == ["15"])
    }

    @Test("a flush returns only after everything before it was written", .timeLimit(.minutes(5)))
    func flush() throws {
        let recorder = try Recorder<JournalRecord>()
        let journal = Journal { recorder.take($0) }
        for number in 0..<500 { journal.record(JournalRecord(.info, nil, String(number))) }
        #expect(journal.flush(milliseconds: 30_000))
        #expect(recorder.elements.map(\.message) == (0..<500).map(String.init))
    }

    @Test("a native record carries message, priority, id and the fields in order")
    func native() {
        var record = JournalRecord(.warning, .jobFailed, "job failed")
        record.add(.route, "billing")
        record.add(.attempt, 3)
        record.add(.clientUnit, nil)
        record.add(.urlPath, "/a\nMESSAGE=b")
        let text = String(decoding: journalDatagram(record, program: "waystationd"), as: UTF8.self)
        #expect(
            text.split(separator: "\n", omittingEmptySubsequences: false) == [
                "MESSAGE=job failed", "PRIORITY=4", "MESSAGE_ID=753dc1f5acac42628dfb824bc23ba558",
                "ROUTE=billing", "ATTEMPT=3", "URL_PATH=/a\\nMESSAGE=b", "SYSLOG_IDENTIFIER=waystationd", "",
            ]
        )
    }

    @Test("a message of several lines goes with its length, so that none of them can pass for a field")
    func nativeLines() {
        let record = JournalRecord(.info, nil, "first\nPRIORITY=0")
        let expected =
            Array("MESSAGE\n".utf8) + [16, 0, 0, 0, 0, 0, 0, 0]
            + Array("first\nPRIORITY=0\nPRIORITY=6\nSYSLOG_IDENTIFIER=p\n".utf8)
        #expect(journalDatagram(record, program: "p") == expected)
    }

    @Test("as JSON it is one line of valid JSON, whatever its message has, with each name once and the time")
    func json() throws {
        var record = JournalRecord(.warning, .jobFailed, "first\n  \"second\"\u{1B}\u{0}\u{2028}")
        record.add(.route, "a")
        record.add(.upstream, "one")
        record.add(.upstream, "two")
        record.add(.detail, String(repeating: "é\"", count: 5000))
        let line = jsonLine(record, at: 1_795_132_809_007)
        #expect(line.firstIndex(of: UInt8(ascii: "\n")) == line.count - 1)
        let object = try JSONValue(parsing: Array(line))
        #expect(object["TIMESTAMP"] == .string("2026-11-20T00:00:09.007Z"))
        #expect(object["MESSAGE"] == .string("first\n  \"second\"\\x1b\\x00\\u{2028}"))
        #expect(object["PRIORITY"] == .string("4"))
        #expect(object["MESSAGE_ID"] == .string("753dc1f5acac42628dfb824bc23ba558"))
        #expect(object["ROUTE"] == .string("a"))
        #expect(object["UPSTREAM"] == .array([.string("one"), .string("two")]))
        guard case .string(let detail) = object["DETAIL"] else {
            Issue.record("no detail")
            return
        }
        #expect((1020...1024).contains(detail.utf8.count))
    }

    @Test("a long field is cut at 1 KiB")
    func longField() {
        var record = JournalRecord(.info, nil, "m")
        record.add(.detail, String(repeating: "x", count: 5000))
        let fields = journalDatagram(record).split(separator: UInt8(ascii: "\n"))
        #expect(fields[2].count == "DETAIL=".utf8.count + 1024)
    }

    @Test(
        "lines carry the priority where the service manager reads them; elsewhere the time and a word for it"
    )
    func lines() {
        let record = JournalRecord(.error, nil, "bad\u{1B}[2Jthing")
        #expect(JournalSink.prefixedLines.lines(record, at: 0) == "<3>bad\\x1b[2Jthing\n")
        let plain = "2026-11-20T00:00:09Z error: bad\\x1b[2Jthing"
        #expect(JournalSink.plainLines.lines(record, at: 1_795_132_809) == plain + "\n")
        #expect(JournalSink.colouredLines.lines(record, at: 1_795_132_809) == "\u{1B}[31m\(plain)\u{1B}[0m\n")
    }

    @Test("a message of several lines cannot pass for several records, and its lines keep their places")
    func severalLines() {
        let caret = JournalRecord(.error, nil, "first\n 2 | x\n   | ^\r")
        #expect(JournalSink.prefixedLines.lines(caret, at: 0) == "<3>first\n<3>   2 | x\n<3>     | ^\\r\n")
        let timeline = JournalRecord(.info, nil, "first\n  +0.1s  a")
        #expect(
            JournalSink.plainLines.lines(timeline, at: 0)
                == "1970-01-01T00:00:00Z info: first\n1970-01-01T00:00:00Z info:   +0.1s  a\n"
        )
    }

    @Test(
        "text that a terminal could act on is written as escapes",
        arguments: [
            ("plain", "plain"), ("a\tb\r\n", "a\\tb\\r\\n"), ("\u{0}\u{7F}", "\\x00\\x7f"),
            ("\u{85}\u{9B}", "\\x85\\x9b"), ("\u{202E}gpj", "\\u{202e}gpj"), ("grüße", "grüße"),
        ]
    )
    func escapes(text: String, escaped: String) {
        #expect(JournalText.escaped(text, limit: 100) == escaped)
    }

    @Test(
        "text is cut between characters and within the limit",
        arguments: [
            ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc…"), ("ééé", 6, "ééé"), ("éééé", 6, "é…"),
            ("\n\n\n\n", 7, "\\n\\n…"), ("abcd", 2, "ab"), ("", 0, ""), ("a", 0, ""),
        ]
    )
    func cut(text: String, limit: Int, result: String) {
        #expect(JournalText.escaped(text, limit: limit) == result)
        #expect(result.utf8.count <= limit)
    }
}
