import RelayBase
import RelayHTTP
import RelayJSON
import RelayPosix

/// The outcome of a line that was answered.
enum LineOutcome {
    /// In the output, framed as the connection sends it, from there on.
    case written(from: Int)
    /// One that cannot go out now, or is large.
    case document(AnswerDocument)
}

// The outcome of a line that was answered, as `StreamOutcome.ended` tells it, written from the answer where it stands.
extension PassThrough {
    /// Writes the outcome to `output`; `isKept` tells that it cannot go out now.
    func outcome(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ line: PassedLine,
        isKept: Bool
    ) -> LineOutcome {
        let isChunked = line.stream.framing == .chunked
        output.clear()
        if isChunked { output.put("        \r\n") }
        let start = output.count
        unsafe writeHead(exchange, answer, line)
        let body = unsafe Span(_unsafeStart: answer.base + answer.body.lowerBound, count: answer.body.count)
        let form = JSONContent.form(of: body)
        output.put("],\"body\":{\"size\":")
        output.put(decimal: body.count)
        output.put(",\"")
        output.put(form.name)
        output.put("\":")
        // Each byte of the answer is six in a string at most.
        let isLarge = answer.body.upperBound > PassThroughOutput.capacity / JSONText.longestEscape - 256
        if isKept || isLarge {
            let head = unsafe Array(output.bytes[start...])
            let content = JSONContent(body.copied(from: 0), form)
            return .document(AnswerDocument(head: head, content, tail: Array("}}\n".utf8)))
        }
        write(body, form)
        output.put("}}\n")
        return .written(from: isChunked ? closeChunk(from: start) : start)
    }

    @inline(__always)
    private func writeHead(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ line: PassedLine
    ) {
        output.put("{\"line\":")
        output.put(decimal: line.number)
        if !line.id.isEmpty {
            output.put(",\"id\":\"")
            unsafe line.bytes.withUnsafeBufferPointer { bytes in
                if let first = bytes.baseAddress { unsafe output.put(first, line.id) }
            }
            output.put("\"")
        }
        output.put(",\"ok\":true,\"job\":\"")
        unsafe output.put(exchange.pointee.id)
        output.put("\",\"attempts\":1,\"source\":\"upstream\",\"status\":")
        output.put(decimal: answer.status)
        output.put(",\"headers\":[")
        var isFirst = true
        answer.forEachField { name, value in
            output.put(isFirst ? "[\"" : ",[\"")
            isFirst = false
            unsafe output.put(answer.base, name)
            output.put("\",\"")
            unsafe writeText(answer.base, value)
            output.put("\"]")
        }
    }

    /// The text of a field's value, which need not be UTF-8.
    @inline(__always)
    private func writeText(_ base: UnsafePointer<UInt8>, _ place: Range<Int>) {
        let text = unsafe Span(_unsafeStart: base + place.lowerBound, count: place.count)
        let isForeign = place.contains { unsafe base[$0] >= 0x80 }
        if isForeign { return unsafe writeForeign(base, place) }
        output.advance(unsafe JSONText.write(escaping: text, to: output.end))
    }

    @inline(never)
    private func writeForeign(_ base: UnsafePointer<UInt8>, _ place: Range<Int>) {
        let bytes = unsafe UnsafeBufferPointer(start: base + place.lowerBound, count: place.count)
        let text = Array(unsafe String(decoding: bytes, as: UTF8.self).utf8)
        output.advance(unsafe JSONText.write(escaping: text.span, to: output.end))
    }

    @inline(__always)
    private func write(_ body: Span<UInt8>, _ form: JSONContent.Form) {
        guard form == .text else { return writeOther(body, form) }
        output.put("\"")
        output.advance(unsafe JSONText.write(escaping: body, to: output.end))
        output.put("\"")
    }

    @inline(never)
    private func writeOther(_ body: Span<UInt8>, _ form: JSONContent.Form) {
        var encoded: [UInt8] = []
        let content = JSONContent(body.copied(from: 0), form)
        content.append(0..<body.count, asLine: true, to: &encoded)
        output.put(encoded)
    }

    /// Puts the length of what was written since then in front of it.
    ///
    /// - Returns: where the chunk begins.
    @inline(__always)
    private func closeChunk(from start: Int) -> Int {
        var (rest, index) = (output.count &- start, start &- 2)
        repeat {
            index &-= 1
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            unsafe output.base[index] = digit < 10 ? digit &+ 0x30 : digit &+ 0x57
            rest >>= 4
        } while rest > 0
        output.put("\r\n")
        return index
    }
}
