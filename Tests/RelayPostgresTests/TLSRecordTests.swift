import COpenSSL
import PostgresTestSupport
import RelayPostgres
import Testing

@Suite("Records of TLS", .timeLimit(.minutes(5)))
struct TLSRecordTests {
    /// The beginning of an answer with one column.
    private static let beginning =
        HostilePeer.settings + message("1", []) + message("2", [])
        + message(
            "T",
            [0, 1] + Array("n".utf8) + [0] + [0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 255, 255, 0, 0, 0, 0, 0, 1]
        )

    /// An answer of one row, whose value has that many bytes.
    private static func answer(_ count: Int) -> [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
        return beginning
            + message("D", [0, 1] + length + [UInt8](repeating: 7, count: count))
            + message("C", Array("SELECT 1".utf8) + [0]) + message("Z", Array("I".utf8))
    }

    @Test("The part of a record that the TLS library holds is read although the socket has nothing more")
    func held() async throws {
        // The greatest record, behind three bytes of the row: they leave less than that in libpq's buffer, which is made
        // larger only when the row's length is known.
        let (first, last) = (Self.beginning.count + 3, 16_384)
        let count = first + last - Self.answer(0).count
        let answer = Self.answer(count)
        let certificates = try await ServerCertificates(in: PostgresServer.shared().folder, "records")
        let peer = try HostilePeer { session in
            session.send(Array("S".utf8))
            let tls = TLSServer(session.descriptor, certificates)
            tls.send(HostilePeer.greeting)
            tls.receive()
            tls.send(Array(answer[..<first]))
            tls.send(Array(answer[first...]))
            session.waitForEnd()
        }
        let library = try PostgresLibrary.open()
        try await onLoop { loop in
            var settings = peer.settings
            settings.isPooled = true
            settings.tls = PostgresTLS(.unverified)
            let connection = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            let result = try await connection.run("SELECT n")
            #expect(result.bytes(0, 0) == [UInt8](repeating: 7, count: count))
        }
    }
}

/// The server's end of a TLS connection, on a socket that blocks.
@safe private final class TLSServer {
    private let context: OpaquePointer?
    private let session: OpaquePointer?

    init(_ descriptor: Int32, _ certificates: ServerCertificates) {
        unsafe context = SSL_CTX_new(TLS_server_method())
        unsafe SSL_CTX_use_certificate_file(context, certificates.certificate, SSL_FILETYPE_PEM)
        unsafe SSL_CTX_use_PrivateKey_file(context, certificates.key, SSL_FILETYPE_PEM)
        unsafe session = SSL_new(context)
        unsafe SSL_set_fd(session, descriptor)
        let result = unsafe SSL_accept(session)
        #expect(result == 1)
        // The client's message of its start.
        receive()
    }

    deinit {
        unsafe SSL_free(session)
        unsafe SSL_CTX_free(context)
    }

    /// Sends one record.
    func send(_ bytes: [UInt8]) {
        let count = unsafe SSL_write(session, bytes, Int32(bytes.count))
        #expect(count == bytes.count)
    }

    func receive() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        _ = unsafe SSL_read(session, &buffer, Int32(buffer.count))
    }
}
