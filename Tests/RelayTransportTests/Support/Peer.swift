import COpenSSL
import Glibc
import RelayPosix

/// The server's end of one connection, driven by a script on a thread of its own.
@safe final class Peer {
    private var descriptor: Int32
    private var ssl: OpaquePointer?
    private var buffer: [UInt8] = []
    /// Which connection of its server it is, from zero.
    let number: Int

    init(_ descriptor: Int32, number: Int) {
        self.descriptor = descriptor
        self.number = number
        var patience = timeval(tv_sec: 200, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        // Or a reset would take back what was written before.
        Socket.setNoDelay(descriptor)
    }

    deinit { close() }

    /// Does the server's side of a TLS handshake; false when it fails.
    func secure(_ context: OpaquePointer) -> Bool {
        guard let made = unsafe SSL_new(context) else { return false }
        unsafe ssl = made
        unsafe SSL_set_fd(made, descriptor)
        return unsafe SSL_accept(made) == 1
    }

    var wasResumed: Bool { unsafe ssl.map { unsafe SSL_session_reused($0) == 1 } ?? false }

    /// Begins TLS anew on the same connection, with another certificate; false when the other end will not.
    func renegotiate(as certificate: String) -> Bool {
        guard let ssl = unsafe ssl else { return false }
        unsafe SSL_use_certificate_file(ssl, Certificates.path(certificate + ".pem"), SSL_FILETYPE_PEM)
        unsafe SSL_use_PrivateKey_file(ssl, Certificates.path(certificate + ".key"), SSL_FILETYPE_PEM)
        guard unsafe SSL_renegotiate(ssl) == 1, unsafe SSL_do_handshake(ssl) == 1 else { return false }
        // That was the question alone; without automatic retries a read ends with the handshake it brings on.
        unsafe SSL_ctrl(ssl, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_AUTO_RETRY), nil)
        var byte: UInt8 = 0
        let result = unsafe SSL_peek(ssl, &byte, 1)
        return unsafe SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ
    }

    /// Reads one request head and the body it announces; nil when the peer is gone.
    func readRequest() -> (head: String, body: [UInt8])? {
        guard let head = readHead() else { return nil }
        let lowered = head.lowercased()
        if lowered.contains("transfer-encoding: chunked") {
            guard let body = readChunks() else { return nil }
            return (head, body)
        }
        guard let range = lowered.split(separator: "\r\n").first(where: { $0.hasPrefix("content-length: ") })
        else { return (head, []) }
        guard let count = Int(range.dropFirst(16)), let body = readBytes(count) else { return nil }
        return (head, body)
    }

    /// Reads up to and with the empty line.
    func readHead() -> String? {
        while true {
            var index = 3
            while index < buffer.count {
                if buffer[index] == 10, buffer[index - 1] == 13, buffer[index - 2] == 10 {
                    let head = String(decoding: buffer[...index], as: UTF8.self)
                    buffer.removeFirst(index + 1)
                    return head
                }
                index += 1
            }
            guard fill() else { return nil }
        }
    }

    func readBytes(_ count: Int) -> [UInt8]? {
        while buffer.count < count { guard fill() else { return nil } }
        let bytes = Array(buffer[..<count])
        buffer.removeFirst(count)
        return bytes
    }

    /// Reads whatever comes until the peer closes, and counts it.
    func drain() -> Int {
        var count = buffer.count
        buffer = []
        while fill() {
            count += buffer.count
            buffer = []
        }
        return count
    }

    /// False when the peer is gone.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                if let ssl = unsafe ssl {
                    return unsafe Int(SSL_write(ssl, rest.baseAddress, Int32(rest.count)))
                }
                return unsafe send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }

    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// A response with a length.
    @discardableResult
    func answer(_ body: String = "", status: String = "200 OK", fields: String = "") -> Bool {
        write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    /// Makes closing send RST instead of FIN.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Closes the socket without ending TLS.
    func cut() {
        if let ssl = unsafe ssl { unsafe SSL_free(ssl) }
        unsafe ssl = nil
        close()
    }

    func close() {
        guard descriptor >= 0 else { return }
        if let ssl = unsafe ssl {
            unsafe SSL_shutdown(ssl)
            unsafe SSL_free(ssl)
        }
        unsafe ssl = nil
        _ = Glibc.close(descriptor)
        descriptor = -1
    }

    /// Closes or resets the connection, and returns when the other end's kernel knows.
    func end(byReset: Bool = false) {
        let port = otherPort
        if byReset { reset() } else { close() }
        let limit = SystemClock.monotonic() + 120_000_000_000
        while Peer.isOpen(port), SystemClock.monotonic() < limit { sched_yield() }
    }

    /// Returns when the other end's kernel has all that was written.
    func flush() {
        var count: Int32 = 0
        repeat {
            sched_yield()
            guard unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return }
        } while count > 0
    }

    private var otherPort: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe _ = getpeername(descriptor, $0, &length)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Whether the socket with that port of this machine's has not heard of its other end's end.
    private static func isOpen(_ port: UInt16) -> Bool {
        guard let table = unsafe fopen("/proc/self/net/tcp", "re") else { return false }
        defer { unsafe fclose(table) }
        // Its own address first, then its state: 01 is an established connection.
        let digits = String(port, radix: 16, uppercase: true)
        let own = ":" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, 256, table) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(separator: " ")
            if words.count > 3, words[1].hasSuffix(own), words[3] == "01" { return true }
        }
        return false
    }

    private func readChunks() -> [UInt8]? {
        var body: [UInt8] = []
        while true {
            var line: [UInt8] = []
            while line.suffix(2) != [13, 10] {
                guard let byte = readBytes(1) else { return nil }
                line += byte
            }
            guard let size = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16),
                let piece = readBytes(size), readBytes(2) == [13, 10]
            else { return nil }
            if size == 0 { return body }
            body += piece
        }
    }

    private func fill() -> Bool {
        guard descriptor >= 0 else { return false }
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { space, count in
            if let ssl = unsafe ssl {
                unsafe count = max(0, Int(SSL_read(ssl, space.baseAddress, Int32(space.count))))
            } else {
                unsafe count = max(0, recv(descriptor, space.baseAddress, space.count, 0))
            }
        }
        buffer += piece
        return !piece.isEmpty
    }
}
