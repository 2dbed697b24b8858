import RelayTestSupport
import RelayTesting
import Synchronization
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

@Suite("Heads of streamed answers that are held back", .timeLimit(.minutes(1)))
struct HeldHeadTests {
    private static func scanned(
        _ text: String,
        _ kind: ContentScanner.Kind = .events,
        by size: Int = .max
    )
        -> ContentScanner
    {
        var scanner = ContentScanner(kind)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            scanner.take(Array(rest.prefix(size)).span)
            rest = rest.dropFirst(size)
        }
        return scanner
    }

    @Test(
        "An event is a block with data, whatever ends its lines and wherever it is cut",
        arguments: [
            ("", 0), ("data: a", 0), ("data: a\n", 0), ("data: a\n\n", 1), ("data: a\r\n\r\n", 1),
            ("data: a\r\r", 1), ("data: a\r\n\n", 1), ("data: a\r\n", 0), ("data\n\n", 1), ("data:\n\n", 1),
            ("\u{FEFF}data: a\n\n", 1), ("\n\u{FEFF}data: a\n\n", 0), (": data: a\n\n", 0),
            ("dataset: a\n\n", 0),
            ("dat\n\n", 0), (" data: a\n\n", 0), ("event: x\nid: 7\n\n", 0),
            ("event: x\ndata: a\nid: 7\n\n", 1),
            ("data: a\n\n\n\ndata: b\n\n", 2), ("data: a\r\r\ndata: b\r\r", 2),
            ("retry: 10\n\ndata: a\n\n", 1),
        ]
    )
    func events(_ text: String, _ count: Int) {
        for size in [1, 2, 3, Int.max] {
            #expect(HeldHeadTests.scanned(text, by: size).events == count, "by \(size)")
        }
    }

    @Test("Lines of JSON count when they are whole and not blank, and other content by its pieces")
    func otherContent() {
        #expect(HeldHeadTests.scanned("\n \r\n{}\n{", .lines, by: 1).events == 1)
        #expect(HeldHeadTests.scanned("\u{1E}{}\n\u{1E}{}\n", .lines, by: 2).events == 2)
        #expect(HeldHeadTests.scanned("abc", .pieces).events == 1)
        #expect(HeldHeadTests.scanned("", .pieces).events == 0)
    }

    @Test(
        "The relay's own event takes the place of one that was cut off, but of none with an id or a retry",
        arguments: [
            ("", ""), ("data: a\n\n", ""), ("data: a\n", ""), ("data: a", "\n"), ("data: a\r", ""),
            (": c", "\n"),
            ("id: 7\ndata: a\n\nda", "\n"), ("\u{FEFF}", ""), ("id: 7\n", nil), ("i", nil),
            ("data: a\nid", nil),
            ("r", nil), ("retry: 1", nil),
        ] as [(String, String?)]
    )
    func ends(_ text: String, _ end: String?) {
        #expect(HeldHeadTests.scanned(text).endOfPart == end.map { Array($0.utf8) })
    }

    @Test("A mark that was cut off is a line, and other content has no place for an event")
    func noPlace() {
        var scanner = ContentScanner(.events)
        scanner.take([0xEF, 0xBB].span)
        #expect(scanner.endOfPart == Array("\n".utf8))
        #expect(HeldHeadTests.scanned("{", .lines).endOfPart == nil)
        #expect(HeldHeadTests.scanned("a", .pieces).endOfPart == nil)
    }

    /// Answers each attempt with the next body.
    private final class Streams: Transport {
        private let bodies: Mutex<[any BodySource]>
        private let fields: HeaderFields

        init(_ bodies: [any BodySource], _ type: String, _ more: [(String, String)]) {
            self.bodies = Mutex(bodies)
            var fields = HeaderFields()
            fields.append("Content-Type", type)
            for (name, value) in more { fields.append(name, value) }
            self.fields = fields
        }

        func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
            let body = bodies.withLock { $0.removeFirst() }
            let response = HTTPResponse(status: 200, fields: fields, body: .stream(body))
            return InboundResponse(response: response, exchange: Exchange())
        }
    }

    private func route(_ change: (inout StreamRules.Commit) -> Void = { _ in }) -> Route {
        var commit = StreamRules.Commit()
        change(&commit)
        return makeRoute { policy in
            policy.response.stream = StreamRules()
            policy.response.stream?.commit = commit
            policy.recovery = [rule("again", ["any"], retry())]
        }
    }

    private func body(_ pieces: String..., length: UInt64? = nil, breaks: Bool = false) -> PieceBody {
        PieceBody(pieces.map { Array($0.utf8) }, length: length, breaks: breaks)
    }

    private func perform(
        _ bodies: any BodySource...,
        on route: Route,
        _ method: Method = .get,
        type: String = "Text/Event-Stream; charset=utf-8",
        fields: [(String, String)] = [("Transfer-Encoding", "chunked")],
        memory: RouteMemory = RouteMemory(meter: RouteMeter(shards: 1)),
        account: MemoryAccount? = nil
    ) async throws -> (text: String?, kinds: [FailureKind?], released: [HeadRelease: UInt64]) {
        let bench = Bench([]).over(Streams(bodies, type, fields), memory: account)
        let outcome = await bench.perform(method, on: route, memory: memory)
        let content = try await outcome.accepted?.body.collect(limit: 1 << 20)
        return (
            content.map { String(decoding: $0, as: UTF8.self) }, outcome.attempts.map { $0.failure?.kind },
            memory.meter.figures.account.releases
        )
    }

    @Test(
        "A break before the first event is a failed attempt, one after it is the caller's to see",
        .clauses("N-19")
    )
    func breaks() async throws {
        let got = try await perform(
            body(": c\n\n", "id: 7\n", breaks: true),
            body("data: 2\n\n", "data: 3\n\n"),
            on: route()
        )
        #expect(got.text == "data: 2\n\ndata: 3\n\n" && got.kinds == [.httpResponseIncomplete, nil])
        #expect(got.released == [.failed: 1, .event: 1])
        await #expect(throws: Failure.self) {
            try await self.perform(self.body("data: 2\n\n", breaks: true), on: self.route())
        }
    }

    @Test("An unkeyed POST whose head has come is not repeated")
    func unrepeatable() async throws {
        let got = try await perform(body(breaks: true), body("data: 2\n\n"), on: route(), .post)
        #expect(got.text == nil && got.kinds == [.httpResponseIncomplete])
    }

    @Test("A whole answer without an event is one where its framing says so, and else a failed attempt")
    func eventless() async throws {
        var got = try await perform(body(": c\n\n"), on: route())
        #expect(got.text == ": c\n\n" && got.released == [.whole: 1])
        got = try await perform(body(": c\n\n"), body("data: 2\n\n"), on: route(), fields: [])
        #expect(got.text == "data: 2\n\n" && got.kinds == [.httpResponseIncomplete, nil])
        got = try await perform(body(": c\n\n", length: 5), on: route(), fields: [("Content-Length", "5")])
        #expect(got.text == ": c\n\n")
        got = try await perform(body(": c\n\n"), on: route { $0.events = 0 }, fields: [])
        #expect(got.text == ": c\n\n")
        got = try await perform(body("a", "b"), on: route(), type: "text/plain", fields: [])
        #expect(got.text == "ab" && got.released == [.event: 1])
    }

    @Test("Bytes and more events release the head, and content in a coding by its first piece")
    func releases() async throws {
        var got = try await perform(body("data: 123", "4", "5"), on: route { $0.bytes = 10 })
        #expect(got.released == [.bytes: 1])
        got = try await perform(
            body("data: 1\n\n", breaks: true),
            body("data: 1\n\ndata: 2\n\n"),
            on: route { $0.events = 2 }
        )
        #expect(got.text == "data: 1\n\ndata: 2\n\n" && got.released == [.failed: 1, .event: 1])
    }

    @Test(
        "Other content, and any in a coding, is released by its first piece whatever is waited for",
        arguments: [0, 1, 3]
    )
    func pieces(_ events: Int) async throws {
        for (type, fields) in [("text/plain", []), ("text/event-stream", [("Content-Encoding", "br")])] {
            let got = try await perform(
                body("\u{1F}", "x"),
                on: route { ($0.events, $0.time) = (events, .seconds(1)) },
                type: type,
                fields: fields
            )
            #expect(got.released == [.event: 1])
        }
    }

    @Test("The time of the attempt bounds the wait, and not what follows it")
    func bounds() async throws {
        let stream = PieceBody([Array("data: 1\n\n".utf8), [0x3A]])
        #expect(try await perform(stream, on: route()).released == [.event: 1])
        #expect(stream.bound == .distantFuture)
        let broken = PieceBody(breaks: true)
        #expect(try await perform(broken, on: route { $0.bytes = 9 }, .post).released == [.failed: 1])
        #expect(broken.bound.map { $0 < .distantFuture } == true)
    }

    @Test("The bytes that are held are counted, a promised length or not, with what the last piece brought")
    func counted() async throws {
        let account = MemoryAccount(limit: 1 << 20)
        let (large, piece) = (65_536, [UInt8](repeating: 0x78, count: 20_000))
        for (length, size, used) in [
            (nil, 65_536, 80_000), (1 << 20, 65_536, 80_000), (1 << 20, 8_192, 20_000),
            (80_000, large, 80_000),
        ] as [(UInt64?, Int, Int)] {
            let pieces = PieceBody(Array(repeating: piece, count: 8), length: length)
            let bench = Bench([]).over(Streams([pieces], "text/event-stream", []), memory: account)
            let outcome = await bench.perform(on: route { $0.bytes = size })
            #expect(outcome.failure == nil && account.usage.used == used)
            guard case .stream(let body)? = outcome.accepted?.body else { continue }
            // The room goes back with the beginning, however long the stream goes on.
            #expect(try await body.next()?.isEmpty == false && account.usage.used == 0)
            withExtendedLifetime(outcome) {}
        }
        #expect(account.usage.used == 0)
    }

    /// Tells how much is in use while it is read.
    private final class Watched: BodySource {
        let account: MemoryAccount
        let length: UInt64?
        private let seen = Atomic<Int>(0)

        init(_ account: MemoryAccount, _ length: UInt64?) { (self.account, self.length) = (account, length) }

        var wasRead: Bool { false }
        var most: Int { seen.load(ordering: .relaxed) }
        func cancel() {}

        func next() async throws(Failure) -> [UInt8]? {
            seen.store(account.usage.used, ordering: .relaxed)
            return Array("data: 1\n\n".utf8)
        }
    }

    @Test(
        "Room is taken before anything is held",
        arguments: [(nil, 65_536), (2_000_000, 65_536), (2_000_000, 1 << 20), (1_500_000, 2 << 20)]
            as [(UInt64?, Int)]
    )
    func reserved(_ length: UInt64?, _ size: Int) async throws {
        let account = MemoryAccount(limit: 8 << 20)
        let source = Watched(account, length)
        let bench = Bench([]).over(Streams([source], "text/event-stream", []), memory: account)
        _ = await bench.perform(on: route { $0.bytes = size })
        #expect(source.most == min(size, length.map { Int($0) } ?? size))
    }

    @Test("Where there is no room the head is passed on at once")
    func full() async throws {
        let account = MemoryAccount(limit: 60_000)
        let memory = RouteMemory(meter: RouteMeter(shards: 1))
        let bench = Bench([]).over(Streams([body(breaks: true)], "text/event-stream", []), memory: account)
        let outcome = await bench.perform(on: route(), memory: memory)
        #expect(outcome.failure == nil && memory.meter.figures.account.releases == [.memory: 1])
    }

    @Test("Without the option the head is passed on at once, and the length of content stays what it is")
    func plain() async throws {
        let bench = Bench([]).over(Streams([body("data", length: 1 << 20)], "text/event-stream", []))
        let outcome = await bench.perform(on: makeRoute())
        guard case .stream(let source)? = outcome.accepted?.body else { return #expect(Bool(false)) }
        #expect(source is PieceBody)
        let other = Bench([]).over(Streams([body("data: 1\n\n", length: 1 << 20)], "text/event-stream", []))
        let held = await other.perform(on: route())
        #expect(held.accepted?.body.length == 1 << 20)
    }

    /// Lets time pass at its second piece, and then waits.
    private final class Slow: BodySource {
        let gate = Gate()
        private let time: VirtualTime
        private let step = Atomic<Int>(0)
        private let given = Atomic<Bool>(false)

        init(_ time: VirtualTime) { self.time = time }

        var length: UInt64? { nil }
        var wasRead: Bool { false }
        var isCancelled: Bool { given.load(ordering: .relaxed) }
        func cancel() {
            given.store(true, ordering: .relaxed)
            gate.open()
        }

        func next() async throws(Failure) -> [UInt8]? {
            switch step.wrappingAdd(1, ordering: .relaxed).oldValue {
            case 0: return Array(": c\n\n".utf8)
            case 1:
                time.advance(by: .seconds(2))
                await gate.pass()
                return Array("data: 1\n\n".utf8)
            default: return nil
            }
        }
    }

    @Test("The time releases the head, and the piece that was waited for is not lost")
    func time() async throws {
        let time = VirtualTime()
        let slow = Slow(time)
        let memory = RouteMemory(meter: RouteMeter(shards: 1))
        let bench = Bench([], time: time).over(Streams([slow], "text/event-stream", []))
        let outcome = await bench.perform(on: route { $0.time = .seconds(1) }, memory: memory)
        #expect(memory.meter.figures.account.releases == [.time: 1])
        slow.gate.open()
        let content = try await outcome.accepted?.body.collect(limit: 100)
        #expect(content.map { String(decoding: $0, as: UTF8.self) } == ": c\n\ndata: 1\n\n")
    }

    @Test("A caller that gives up while the head is held, or after its time, has the answer given up")
    func givesUp() async throws {
        let time = VirtualTime(.manual)
        let slow = Slow(time)
        let bench = Bench([], time: time).over(Streams([slow], "text/event-stream", []))
        let route = route { $0.time = .seconds(60) }
        let task = Task { await bench.perform(on: route) }
        task.cancel()
        let outcome = await task.value
        #expect(outcome.failure?.kind == .cancelled)
        let held = HeldBody(Slow(time), .events)
        held.cancel()
        let late = Slow(time)
        let second = HeldBody(late, .events)
        let end = time.now().advanced(by: .seconds(1))
        #expect(try await second.hold(StreamRules.Commit(), until: end, time) == .time)
        _ = try await second.next()
        let reader = Task { try await second.next() }
        reader.cancel()
        _ = await reader.result
        #expect(late.isCancelled)
    }

    @Test("A byte order mark is left out where something came before it, however it is cut")
    func marks() async throws {
        let mark = ContentScanner.mark
        for pieces in [
            [mark + [1]], [[mark[0]], [mark[1], mark[2], 1]], [[mark[0]], [mark[1]], [mark[2]], [1]],
        ] {
            let body = HeldBody(PieceBody(pieces), .events)
            body.dropMark()
            #expect(try await Body.stream(body).collect(limit: 9) == [1])
        }
        let body = HeldBody(PieceBody([[mark[0]], [7]]), .events)
        body.dropMark()
        #expect(try await Body.stream(body).collect(limit: 9) == [mark[0], 7])
    }
}
