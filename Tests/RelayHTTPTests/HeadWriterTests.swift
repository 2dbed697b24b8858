import RelayBase
import RelayHTTP
import RelayTestSupport
import Testing

@Suite("A written head")
struct HeadWriterTests {
    private static let tokenBytes = (33...126 as ClosedRange<UInt8>).filter(isTokenByte)
    private static let valueBytes = (32...255).map { UInt8($0) }.filter { isFieldValueByte($0) } + [9]
    private static let targetBytes = Array(33...126 as ClosedRange<UInt8>)

    private static func bytes(
        from set: [UInt8],
        _ counts: ClosedRange<Int>,
        _ numbers: inout SplitMix64
    ) -> [UInt8] {
        (0..<Int.random(in: counts, using: &numbers)).map { _ in
            set[Int.random(in: 0..<set.count, using: &numbers)]
        }
    }

    private static func fields(_ numbers: inout SplitMix64) -> HeaderFields {
        var storage: [UInt8] = []
        var entries: [HeaderFields.Entry] = []
        for _ in 0..<Int.random(in: 0...20, using: &numbers) {
            // A leading byte no known field has.
            let name = [UInt8(ascii: "x")] + bytes(from: tokenBytes, 0...30, &numbers)
            var value = bytes(from: valueBytes, 0...80, &numbers)
            while let last = value.last, last == 32 || last == 9 { value.removeLast() }
            while let first = value.first, first == 32 || first == 9 { value.removeFirst() }
            entries.append(
                HeaderFields.Entry(
                    nameStart: storage.count,
                    nameCount: name.count,
                    valueStart: storage.count + name.count,
                    valueCount: value.count
                )
            )
            storage += name + value
        }
        return HeaderFields(storage: storage, entries: entries)
    }

    /// Names and values as bytes, since a value need not be text.
    private static func raw(_ fields: HeaderFields) -> [[UInt8]] {
        fields.entries.flatMap { entry in
            [
                Array(fields.storage[Int(entry.nameStart)..<Int(entry.nameStart) + Int(entry.nameCount)]),
                Array(fields.storage[Int(entry.valueStart)..<Int(entry.valueStart) + Int(entry.valueCount)]),
            ]
        }
    }

    @Test("of a request is read back as it was", arguments: 1...300 as ClosedRange<UInt64>)
    func requestRoundTrip(seed: UInt64) throws {
        var numbers = SplitMix64(seed: seed)
        let method = Method(
            rawValue: String(decoding: Self.bytes(from: Self.tokenBytes, 1...32, &numbers), as: UTF8.self)
        )
        let target = String(decoding: Self.bytes(from: Self.targetBytes, 1...200, &numbers), as: UTF8.self)
        let fields = Self.fields(&numbers)
        let length = UInt64.random(in: 0...UInt64(Int64.max), using: &numbers)

        var output = OutputBuffer()
        HeadWriter.appendRequestLine(method, target, to: &output)
        HeadWriter.appendField("Host", "upstream:80", to: &output)
        HeadWriter.appendFields(fields, to: &output)
        HeadWriter.appendContentLength(length, to: &output)
        HeadWriter.appendLineEnd(to: &output)

        var parser = RequestHeadParser()
        guard case .head(let head, let consumed) = try parser.parse(output.bytes.span) else {
            Issue.record("the head is incomplete")
            return
        }
        #expect(consumed == output.count && head.method == method && head.target == target)
        #expect(head.framing == .length(length) && head.host == "upstream:80" && head.keepsAlive)
        #expect(Array(Self.raw(head.fields).dropFirst(2).dropLast(2)) == Self.raw(fields))
    }

    @Test("of a response is read back as it was", arguments: 1...300 as ClosedRange<UInt64>)
    func responseRoundTrip(seed: UInt64) throws {
        var numbers = SplitMix64(seed: seed)
        let status = Status(rawValue: UInt16.random(in: 200...599, using: &numbers))
        let fields = Self.fields(&numbers)

        var output = OutputBuffer()
        HeadWriter.appendStatusLine(status, to: &output)
        HeadWriter.appendFields(fields, to: &output)
        output.append("Transfer-Encoding: chunked\r\n\r\n")

        var parser = ResponseHeadParser(requestMethod: .head)
        guard case .head(let head, let consumed) = try parser.parse(output.bytes.span) else {
            Issue.record("the head is incomplete")
            return
        }
        #expect(consumed == output.count && head.status == status)
        #expect(Array(Self.raw(head.fields).dropLast(2)) == Self.raw(fields))
    }

    @Test("leaves out the fields it is told to")
    func skips() {
        var fields = HeaderFields()
        fields.append("A", "1")
        fields.append("Connection", "close")
        fields.append("B", "2")
        var output = OutputBuffer()
        HeadWriter.appendFields(fields, to: &output) { fields.isHopByHop($0) }
        #expect(String(decoding: output.bytes, as: UTF8.self) == "A: 1\r\nB: 2\r\n")
    }

    @Test("copies parsed fields as they stood, but never more than their lines")
    func copiesRuns() throws {
        let sent =
            "GET / HTTP/1.1\r\nHost: h\r\nA:1\r\nB: 2\r\nC: 3 \r\nD: 4\r\nE:\t5\r\nF: 6\r\nG:\r\nH: \r\n\r\n"
        var parser = RequestHeadParser()
        guard case .head(let head, _) = try parser.parse(latin1(sent).span) else {
            Issue.record("the head is incomplete")
            return
        }
        let all = "Host: h\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\nG: \r\nH: \r\n"
        var output = OutputBuffer()
        HeadWriter.appendFields(head.fields, to: &output)
        #expect(String(decoding: output.bytes, as: UTF8.self) == all)
        output.removeAll()
        HeadWriter.appendFields(head.fields, to: &output) { head.fields.nameText($0) == "D" }
        #expect(String(decoding: output.bytes, as: UTF8.self) == all.replacing("D: 4\r\n", with: ""))
    }

    @Test("names the status, also one without a phrase")
    func statusLines() {
        for (code, line) in [(200, "200 OK"), (404, "404 Not Found"), (599, "599 ")] as [(UInt16, String)] {
            var output = OutputBuffer()
            HeadWriter.appendStatusLine(Status(rawValue: code), to: &output)
            #expect(String(decoding: output.bytes, as: UTF8.self) == "HTTP/1.1 \(line)\r\n")
        }
    }

    @Test("counts in decimal for a length and in hexadecimal for a chunk")
    func numbers() {
        var output = OutputBuffer()
        for number in [0, 9, 10, 1_024, UInt64.max] {
            output.append(decimal: number)
            output.append(32)
        }
        #expect(String(decoding: output.bytes, as: UTF8.self) == "0 9 10 1024 18446744073709551615 ")
        output.removeAll()
        for count in [1, 15, 16, 255, 256, 65_536, Int.max] {
            HeadWriter.appendChunkHeader(count, to: &output)
        }
        #expect(
            String(decoding: output.bytes, as: UTF8.self)
                == "1\r\nf\r\n10\r\nff\r\n100\r\n10000\r\n7fffffffffffffff\r\n"
        )
    }

    @Test("with a body in chunks is read back as it was", arguments: 1...50 as ClosedRange<UInt64>)
    func chunksRoundTrip(seed: UInt64) {
        var numbers = SplitMix64(seed: seed)
        var body: [UInt8] = []
        var output = OutputBuffer()
        for _ in 0..<Int.random(in: 0...8, using: &numbers) {
            let piece = Self.bytes(from: Array(0...255), 1...300, &numbers)
            body += piece
            HeadWriter.appendChunkHeader(piece.count, to: &output)
            output.append(piece)
            HeadWriter.appendLineEnd(to: &output)
        }
        HeadWriter.appendLastChunk(to: &output)
        let result = decode(output.bytes, .chunked, size: Int.random(in: 1...64, using: &numbers))
        #expect(result == Decoded(body: body, consumed: output.count, isComplete: true, fault: nil))
    }
}
