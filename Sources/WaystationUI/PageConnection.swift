import Glibc
import RelayBase
import RelayClient
import RelayHTTP
import RelayPosix

/// A browser's connection, served by one thread until it ends or says nothing for too long.
struct PageConnection: ~Copyable {
    private let socket: FileDescriptor
    private let service: PageService
    private var buffer: [UInt8] = []

    /// The end of a connection that can go on no more.
    private struct Ended: Error {}

    private static let limits = {
        var limits = HTTPLimits()
        // With all cookies that other ports of the machine have left with a browser, where the page is at 127.0.0.1.
        limits.head = 65_536
        limits.target = 8_192
        limits.fieldCount = 100
        return limits
    }()
    /// Bytes of a body.
    private static let maxBody = 1_048_576
    /// For a head that has begun, and for a body.
    private static let timeout: Duration = .seconds(10)
    /// Between two requests.
    private static let idle: Duration = .seconds(60)
    /// For a browser that takes nothing.
    private static let stall: Duration = .seconds(30)
    /// For a daemon that says nothing; on a stream of events it does each 15 seconds.
    private static let silence: Duration = .seconds(60)

    init(_ socket: consuming FileDescriptor, _ service: PageService) {
        self.socket = socket
        self.service = service
    }

    /// Answers one request after the other.
    mutating func serve() {
        do throws(Ended) {
            while try answer() {}
        } catch {
            // Nobody is left who could be told.
        }
    }

    /// - Returns: whether another request may follow.
    private mutating func answer() throws(Ended) -> Bool {
        guard let head = try readHead() else { return false }
        let decision = service.decide(head)
        guard case .pass = decision else {
            // The body of a refused request is not read, so nothing may follow it.
            try write(decision)
            return false
        }
        guard let body = try readBody(head) else { return false }
        if head.method == .get, let names = PageUsers.document(head.target) {
            var fields = HeaderFields()
            fields.append(.contentType, "application/json")
            fields.append("Cache-Control", "no-store")
            fields.append("X-Content-Type-Options", "nosniff")
            try send(200, fields, length: names.count, head)
            try send(names)
            return head.keepsAlive
        }
        return try pass(head, body)
    }

    private mutating func readHead() throws(Ended) -> RequestHead? {
        var parser = RequestHeadParser(limits: PageConnection.limits)
        var deadline = PageConnection.deadline(buffer.isEmpty ? PageConnection.idle : PageConnection.timeout)
        while true {
            do throws(HTTPParseError) {
                if case .head(let head, let consumed) = try parser.parse(buffer.span) {
                    buffer.removeFirst(consumed)
                    return head
                }
            } catch {
                try write(.refuse(error.status, PageConnection.refusal(of: error)))
                return nil
            }
            let isFirst = buffer.isEmpty
            guard try receive(by: deadline) else { return nil }
            if isFirst { deadline = PageConnection.deadline(PageConnection.timeout) }
        }
    }

    private static func refusal(of error: HTTPParseError) -> String {
        guard error.status == 431 else { return "the request is no HTTP/1.1: \(error.message)" }
        return
            "the head of the request is too large: it may have 64 KiB and 100 fields; delete the cookies that the "
            + "browser keeps for this host, or run waystation ui without --numeric, which has a host of its own"
    }

    private mutating func readBody(_ head: RequestHead) throws(Ended) -> [UInt8]? {
        var decoder = BodyDecoder(framing: head.framing, limits: PageConnection.limits)
        var body: [UInt8] = []
        let deadline = PageConnection.deadline(PageConnection.timeout)
        while true {
            do throws(HTTPParseError) {
                buffer.removeFirst(try decoder.decode(buffer.span, into: &body).consumed)
            } catch {
                try write(
                    .refuse(400, "the request's body is not framed as HTTP/1.1 has it: \(error.message)")
                )
                return nil
            }
            guard body.count <= PageConnection.maxBody else {
                try write(.refuse(413, "the request's body is larger than 1 MiB"))
                return nil
            }
            if decoder.isComplete { return body }
            guard try receive(by: deadline) else { return nil }
        }
    }

    private func pass(_ head: RequestHead, _ body: [UInt8]) throws(Ended) -> Bool {
        let answer: StreamedAnswer
        do throws(RelayClientError) {
            answer = try service.client.blockingStream(
                head.method,
                head.target,
                fields: PageExchange.fields(toDaemon: head),
                body: body,
                unlessGone: socket.raw
            )
        } catch {
            guard error.code != .cancelled else { throw Ended() }
            var fields = HeaderFields()
            fields.append(.contentType, "application/problem+json")
            let document = PageExchange.problem(service.explain(error))
            try send(502, fields, length: document.count, head)
            if head.method != .head { try send(document) }
            return head.keepsAlive
        }
        let length = answer.fields[.contentLength].flatMap { Int($0) }
        let hasBody = head.method != .head && !answer.status.forbidsContent
        let isChunked = hasBody && length == nil && head.minorVersion == 1
        let fields = PageExchange.fields(
            toBrowser: answer.fields,
            of: head.target,
            socket: service.socketToName
        )
        try send(
            answer.status,
            fields,
            length: answer.status.forbidsContent ? nil : length,
            head,
            isChunked: isChunked
        )
        guard hasBody else { return head.keepsAlive }
        while let piece = next(of: answer) {
            guard let piece, service.isIn(head) else { throw Ended() }
            try send(isChunked ? PageConnection.chunk(piece) : piece)
        }
        if isChunked { try send(Array("0\r\n\r\n".utf8)) }
        return head.keepsAlive && (isChunked || length != nil)
    }

    /// The next piece, nil at the end, and a piece that is nil where the daemon broke off: the answer must not look whole.
    private func next(of answer: StreamedAnswer) -> [UInt8]?? {
        do throws(RelayClientError) {
            return try answer.next(within: PageConnection.silence).map { $0 }
        } catch {
            return .some(nil)
        }
    }

    private func write(_ decision: PageGate.Decision) throws(Ended) {
        var fields = HeaderFields()
        fields.append(.contentType, "text/plain; charset=utf-8")
        fields.append("Cache-Control", "no-store")
        fields.append("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        fields.append("X-Content-Type-Options", "nosniff")
        fields.append("Referrer-Policy", "no-referrer")
        fields.append("Connection", "close")
        var status: Status = 303
        var text = ""
        switch decision {
        case .pass: preconditionFailure("what passes is answered by the daemon")
        case .page: fields.append(.location, "/ui/")
        case .welcome(let cookie, let clears):
            // No redirect: one that began in another page, or in a file, would go on without the cookie.
            status = 200
            fields.append("Refresh", "0; url=/ui/")
            fields.append("Set-Cookie", cookie)
            if clears { fields.append("Clear-Site-Data", "\"cache\", \"storage\"") }
            text = "waystation ui: this browser is in; the page is at /ui/.\n"
        case .refuse(let refused, let sentence):
            status = refused
            text = "waystation ui: \(sentence).\n"
        }
        var output = OutputBuffer()
        HeadWriter.appendStatusLine(status, to: &output)
        HeadWriter.appendFields(fields, to: &output)
        HeadWriter.appendContentLength(UInt64(text.utf8.count), to: &output)
        HeadWriter.appendLineEnd(to: &output)
        output.append(text: text)
        try send(output.bytes)
        Socket.finishSending(socket.raw)
        // Closing over what was not read would take the answer back; what comes for so long is thrown away.
        let end = PageConnection.deadline(.seconds(1))
        var scrap: [UInt8] = []
        while SystemClock.monotonic() < end, (try? receive(into: &scrap, by: end)) == true { scrap = [] }
    }

    private func send(
        _ status: Status,
        _ fields: HeaderFields,
        length: Int?,
        _ head: RequestHead,
        isChunked: Bool = false
    ) throws(Ended) {
        var output = OutputBuffer()
        HeadWriter.appendStatusLine(status, to: &output)
        HeadWriter.appendFields(fields, to: &output)
        if let length { HeadWriter.appendContentLength(UInt64(length), to: &output) }
        if isChunked { output.append("Transfer-Encoding: chunked\r\n") }
        if !head.keepsAlive { output.append("Connection: close\r\n") }
        HeadWriter.appendLineEnd(to: &output)
        try send(output.bytes)
    }

    private static func chunk(_ piece: [UInt8]) -> [UInt8] {
        Array((String(piece.count, radix: 16) + "\r\n").utf8) + piece + [0x0D, 0x0A]
    }

    private func send(_ bytes: [UInt8]) throws(Ended) {
        var sent = 0
        while sent < bytes.count {
            switch Socket.send(socket.raw, bytes.span.extracting(sent...)) {
            case .bytes(let count): sent += count
            case .wouldBlock: try wait(for: Int16(POLLOUT), by: PageConnection.deadline(PageConnection.stall))
            case .failed: throw Ended()
            }
        }
    }

    private mutating func receive(by deadline: Int64) throws(Ended) -> Bool {
        var buffer = self.buffer
        self.buffer = []
        let isThere = try receive(into: &buffer, by: deadline)
        self.buffer = buffer
        return isThere
    }

    /// - Returns: false at the end of what the browser sends.
    private func receive(into buffer: inout [UInt8], by deadline: Int64) throws(Ended) -> Bool {
        while true {
            switch Socket.receive(socket.raw, behind: &buffer, most: 16_384) {
            case .bytes: return true
            case .end: return false
            case .wouldBlock: try wait(for: Int16(POLLIN), by: deadline)
            case .failed: throw Ended()
            }
        }
    }

    private func wait(for events: Int16, by deadline: Int64) throws(Ended) {
        var entry = pollfd(fd: socket.raw, events: events, revents: 0)
        let left = deadline - SystemClock.monotonic()
        guard left > 0 else { throw Ended() }
        let count = unsafe poll(&entry, 1, Int32(clamping: left / 1_000_000 + 1))
        guard count > 0 || count < 0 && errno == EINTR else { throw Ended() }
    }

    private static func deadline(_ span: Duration) -> Int64 {
        Instant(nanoseconds: SystemClock.monotonic()).advanced(by: span).nanoseconds
    }
}
