import PostgresTestSupport
import RelayPostgres
import Synchronization
import Testing

@Suite("A peer that is no server, or a hostile one", .timeLimit(.minutes(5)))
struct HostilePeerTests {
    private static let giant = 1 << 30
    private static let limit = 8 << 20
    /// One row of one column that says how long it is.
    private static let answer =
        message("1", []) + message("2", [])
        + message(
            "T",
            [0, 1] + Array("n".utf8) + [0] + [0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 255, 255, 0, 0, 0, 0, 0, 1]
        )

    private static let greetings: [(name: String, script: HostilePeer.Script)] = [
        ("another protocol", { $0.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) }),
        ("the end", { _ in }),
        ("noise", { $0.send((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }) }),
        ("a long request for a password", { $0.send(message("R", [0, 0, 0, 3], length: giant)) }),
        ("a long error", { $0.send(message("E", Array("SFATAL".utf8), length: giant)) }),
        ("an authentication that nobody knows", { $0.send(message("R", [0, 0, 0, 99])) }),
        (
            "a giant parameter",
            { session in
                session.send(message("R", [0, 0, 0, 0]) + message("S", [], length: giant))
                session.waitForEnd()
            }
        ),
    ]

    @Test("It is refused at once by what it says first", arguments: greetings.map(\.name))
    func greeting(name: String) async throws {
        let script = try #require(Self.greetings.first { $0.name == name }).script
        let peer = try HostilePeer(script)
        let library = try PostgresLibrary.open()
        let error = try await onLoop { loop in try await refusal(peer.settings, library, on: loop) }
        #expect(error.kind == .unreachable && error.endsConnection && !error.message.contains("secret"))
        #expect(error.message.utf8.count < 600 && !error.message.contains("\n"))
    }

    @Test("One that is silent is given up at the deadline", arguments: [false, true])
    func silent(isHalf: Bool) async throws {
        let peer = try HostilePeer { session in
            if isHalf { session.send(message("R", [0, 0, 0, 0])) }
            session.waitForEnd()
        }
        let library = try PostgresLibrary.open()
        let error = try await onLoop { loop in
            try await refusal(peer.settings, library, on: loop, within: .milliseconds(200))
        }
        #expect(error.kind == .timeout && error.message.contains("127.0.0.1:\(peer.port)"))
        #expect(error.message.contains("within 200ms"))
    }

    @Test("One that goes on with notices before it is ready is given up")
    func endlessGreeting() async throws {
        let peer = try HostilePeer { session in
            session.send(message("R", [0, 0, 0, 0]))
            let notice = message("N", Array("SNOTICE".utf8) + [0] + Array("Mx".utf8) + [0, 0])
            let notices = Array(repeatElement(notice, count: 1_000).joined())
            while session.send(notices) {}
        }
        let library = try PostgresLibrary.open()
        let error = try await onLoop { loop in try await refusal(peer.settings, library, on: loop) }
        #expect(error.kind == .protocolError && error.message.contains("too much"))
    }

    /// The error of a question to a peer that greets as a server does and goes on with the script.
    private static func failure(
        within: Duration = ample,
        _ script: @escaping HostilePeer.Script
    ) async throws -> (error: PostgresError, sent: Int) {
        let peer = try HostilePeer { session in
            session.greet()
            session.receive()
            session.send(HostilePeer.settings)
            script(session)
        }
        let library = try PostgresLibrary.open()
        return try await onLoop { loop in
            var settings = peer.settings
            // Without a name a statement is one exchange, behind that of the settings.
            settings.isPooled = true
            settings.limits.answer = limit
            let connection = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            let error = try await connection.failure([PostgresStatement("SELECT n")], within: within)
            #expect(connection.isOver)
            return (error, peer.sent.withLock { $0 })
        }
    }

    @Test("A row of a gigabyte that does not come is given up at the deadline")
    func giantLength() async throws {
        let (error, _) = try await Self.failure(within: .milliseconds(300)) { session in
            session.send(Self.answer + message("D", [0, 1, 0x3F, 0xFF, 0xFF, 0xF0], length: Self.giant))
            session.waitForEnd()
        }
        #expect(error.kind == .timeout && error.isUnknown)
    }

    @Test("A row that is longer than it may be is given up, with its end at the latest")
    func giantRow() async throws {
        let length = 48 << 20
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        let (error, sent) = try await Self.failure { session in
            session.send(Self.answer + message("D", [0, 1, 0x02, 0xFF, 0xFF, 0xF0], length: length))
            while session.send(piece) {}
        }
        #expect(error.kind == .protocolError && error.message.contains("\(Self.limit) bytes"))
        // The library doubles its buffer and fills it; the system's buffers come on top.
        #expect(sent < 2 * length)
    }

    @Test("Rows without end are given up")
    func endlessRows() async throws {
        let row = message("D", [0, 1, 0, 0, 4, 0] + [UInt8](repeating: 1, count: 1_024))
        let rows = Array(repeatElement(row, count: 64).joined())
        let (error, sent) = try await Self.failure { session in
            session.send(Self.answer)
            while session.send(rows) {}
        }
        #expect(error.kind == .protocolError && error.message.contains("\(Self.limit) bytes"))
        #expect(sent < Self.limit + 32 << 20)
    }

    @Test("A message without end that nobody asked for ends the connection")
    func unaskedFlood() async throws {
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        let peer = try HostilePeer { session in
            session.greet()
            session.send(message("N", [], length: Self.giant))
            while session.send(piece) {}
        }
        let library = try PostgresLibrary.open()
        try await onLoop { loop in
            var settings = peer.settings
            settings.limits.answer = Self.limit
            let connection = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            let end = await withCheckedContinuation { continuation in
                connection.onEnd = { continuation.resume(returning: $0) }
            }
            #expect(end.kind == .protocolError && end.message.contains("\(Self.limit) bytes"))
        }
    }

    @Test("Answers to what nobody asked, and none to what was asked, end the connection")
    func unasked() async throws {
        let done = message("C", Array("SELECT 0".utf8) + [0])
        let ready = message("Z", Array("I".utf8))
        for bytes in [
            ready, Self.answer + done + done + done + ready, message("G", [0, 0, 0]), [1, 2, 3, 4, 5],
        ] {
            let (error, _) = try await Self.failure { session in
                session.send(bytes)
                session.waitForEnd()
            }
            #expect(error.kind == .protocolError || error.kind == .lost, "\(bytes.prefix(8)): \(error)")
            #expect(error.endsConnection && error.isUnknown)
        }
    }

    @Test("An answer with fewer columns than were asked for has no values")
    func fewerColumns() async throws {
        let peer = try HostilePeer { session in
            session.greet()
            session.receive()
            session.send(
                HostilePeer.settings + message("1", []) + message("2", []) + message("n", [])
                    + message("C", Array("SELECT 0".utf8) + [0]) + message("Z", Array("I".utf8))
            )
            session.waitForEnd()
        }
        let library = try PostgresLibrary.open()
        try await onLoop { loop in
            var settings = peer.settings
            settings.isPooled = true
            let connection = try await PostgresConnection.connect(settings, library, on: loop, within: ample)
            let result = try await connection.run("SELECT n")
            #expect(result.count == 0 && result.int64(0, 0) == nil && result.isNull(0, 0))
        }
    }
}
