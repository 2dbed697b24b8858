import Glibc
import RelayBase
import RelayHTTP
import RelayPosix

/// One of the relay's connections to the demo's upstream, for one request.
///
/// On a connection that is kept the order with a key would go out once more within its attempt, and no rule would act.
struct ScriptedConnection: ~Copyable {
    let socket: FileDescriptor

    /// Reads a request with its body, which is thrown away; nil when the relay has gone or talks nonsense.
    func request() -> RequestHead? {
        var parser = RequestHeadParser()
        var buffer: [UInt8] = []
        while true {
            guard receive(into: &buffer), let result = try? parser.parse(buffer.span) else { return nil }
            guard case .head(let head, let consumed) = result else { continue }
            buffer.removeFirst(consumed)
            return skipBody(of: head, buffer) ? head : nil
        }
    }

    /// Answers; the connection ends with it.
    func give(_ answer: ScriptedAnswer) {
        switch answer {
        case .hangUp: break
        case .answer(let status, let fields, let body):
            var answer = OutputBuffer()
            HeadWriter.appendStatusLine(status, to: &answer)
            var list = HeaderFields()
            for (name, value) in fields { list.append(name, value) }
            HeadWriter.appendFields(list, to: &answer)
            answer.append("Connection: close\r\n")
            HeadWriter.appendContentLength(UInt64(body.utf8.count), to: &answer)
            HeadWriter.appendLineEnd(to: &answer)
            answer.append(text: body)
            _ = send(answer.bytes)
        case .stall:
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            guard send(Array((head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n").utf8)) else { return }
            // Longer than the demo waits; the relay hangs up long before.
            _ = waitFor(socket.raw, Int16(POLLIN), milliseconds: 30_000)
        }
    }

    private func skipBody(of head: RequestHead, _ first: [UInt8]) -> Bool {
        var decoder = BodyDecoder(framing: head.framing)
        var buffer = first
        var body: [UInt8] = []
        while true {
            guard (try? decoder.decode(buffer.span, into: &body)) != nil else { return false }
            if decoder.isComplete { return true }
            buffer = []
            body = []
            guard receive(into: &buffer) else { return false }
        }
    }

    private func receive(into buffer: inout [UInt8]) -> Bool {
        guard waitFor(socket.raw, Int16(POLLIN), milliseconds: 30_000) else { return false }
        switch Socket.receive(socket.raw, behind: &buffer, most: 16_384) {
        case .bytes, .wouldBlock: return true
        case .end, .failed: return false
        }
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            switch Socket.send(socket.raw, bytes.span.extracting(sent...)) {
            case .bytes(let count): sent += count
            case .wouldBlock:
                guard waitFor(socket.raw, Int16(POLLOUT), milliseconds: 30_000) else { return false }
            case .failed: return false
            }
        }
        return true
    }
}
