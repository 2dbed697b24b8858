import RelayBase
import RelayClient
import RelayTestSupport
import Synchronization
import Testing

@Suite("Kept jobs beside a daemon that is killed", .serialized, .timeLimit(.minutes(5)))
struct KilledDaemonTests {
    private let upstream: StubRelay
    private let daemon: DaemonProcess

    init() throws {
        upstream = try Self.makeUpstream()
        daemon = try DaemonProcess(upstream: upstream)
    }

    private static func makeUpstream() throws -> StubRelay {
        try StubRelay(
            .respond { _ in
                .close("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            },
            name: "upstream"
        )
    }

    /// A client between which and the relay's socket at `path` a test acts; what it waits is noted.
    private func client(
        _ path: String,
        onSleep act: @escaping @Sendable (_ count: Int) throws -> Void
    ) -> (RelayClient, Log) {
        let log = Log()
        var client = RelayClient(socketPath: path)
        client.clock = ClientClock(
            now: ClientClock.machine.now,
            sleep: { duration in
                log.note("\(duration)")
                try act(log.lines.count)
            }
        )
        return (client, log)
    }

    /// Waits until the job is delivered, and gives how many jobs the daemon has.
    ///
    /// A daemon that is killed between an answer and its record delivers the job once more, with the same key.
    private func jobs(after job: SubmittedJob) async throws -> Int {
        let end = try await daemon.client.wait(for: job.id, timeout: .seconds(60))
        #expect(end.state == .succeeded && !upstream.requests.isEmpty)
        let list = try await daemon.client.request(.get, "/v1/jobs")
        #expect(list.status == 200 && list.text.contains(job.id))
        return list.text.ranges(of: #""state":"#).count
    }

    @Test("A daemon that is restarted is waited for, and the job is kept once")
    func restart() async throws {
        try daemon.start()
        daemon.kill()
        let (client, log) = client(daemon.socket) { [daemon] count in
            if count == 3 { try daemon.start() }
        }
        let job = try await client.keep(route: "hooks", body: Array("hi".utf8), key: "order-7")
        #expect(!job.isReplayed && log.lines.count == 3)
        #expect(try await jobs(after: job) == 1)
    }

    @Test("A socket that is missing is an error when the patience is over, and nothing was sent")
    func missing() async throws {
        let time = VirtualTime()
        var client = daemon.client
        client.clock = ClientClock(
            now: { time.now() },
            sleep: { try await time.sleep(until: time.now().advanced(by: $0)) }
        )
        let error = await #expect(throws: RelayClientError.self) {
            try await client.keep(route: "hooks", key: "order-7", within: .seconds(20))
        }
        #expect(error?.code == .notReachable && error?.sent == .neverSent)
        #expect(error?.message.contains("there is no such socket") == true)
        #expect(time.now() == Instant(nanoseconds: 0).advanced(by: .seconds(20)))
        try daemon.start()
        #expect(try await client.keep(route: "hooks", key: "order-7").isReplayed == false)
    }

    @Test("An answer that is lost with the daemon is asked for again with the same key, and there is one job")
    func lostAnswer() async throws {
        try daemon.start()
        let lost = Mutex<[String]>([])
        let middle = try StubRelay(
            .respond { [daemon] request in
                let answer = exchange(daemon.socket, request)
                let isFirst = lost.withLock { lost in
                    lost.append(answer)
                    return lost.count == 1
                }
                guard isFirst else { return .close(answer) }
                // The job is on disk, and the daemon ends before its answer is told.
                daemon.kill()
                #expect(throws: Never.self) { try daemon.start() }
                return .close("")
            }
        )
        let (client, log) = client(middle.path) { _ in }
        let job = try await client.keep(route: "hooks", body: Array("hi".utf8), key: "order-7")
        #expect(job.isReplayed && log.lines.count == 1)
        let first = try #require(lost.withLock { $0.first })
        #expect(first.contains("202 Accepted") && first.contains(job.id))
        #expect(middle.requests.count == 2 && Set(middle.requests).count == 1)
        #expect(try await jobs(after: job) == 1)
    }

    @Test("A cancel between sending and answer leaves open what became of it, and the same key tells")
    func cancelled() async throws {
        try daemon.start()
        let accepted = Gate()
        let middle = try StubRelay(
            .respond { [daemon] request in
                #expect(exchange(daemon.socket, request).contains("202 Accepted"))
                accepted.open()
                return .stayOpen("")
            }
        )
        let task = Task {
            try await RelayClient(socketPath: middle.path).keep(route: "hooks", key: "order-7")
        }
        await accepted.pass()
        task.cancel()
        let result = await task.result
        let error = #expect(throws: RelayClientError.self) { try result.get() }
        #expect(error?.code == .cancelled && error?.sent == .unknown)
        #expect(middle.requests.count == 1)
        daemon.kill()
        try daemon.start()
        let job = try await daemon.client.keep(route: "hooks", key: "order-7")
        #expect(job.isReplayed)
        #expect(try await jobs(after: job) == 1)
    }

    @Test("A request without a key is never asked again when its answer is lost")
    func blindly() async throws {
        try daemon.start()
        let middle = try StubRelay(
            .respond { [daemon] request in
                _ = exchange(daemon.socket, request)
                daemon.kill()
                return .close("")
            }
        )
        let error = await #expect(throws: RelayClientError.self) {
            try await RelayClient(socketPath: middle.path).submit(route: "hooks")
        }
        #expect(error?.code == .connectionLost && error?.sent == .unknown)
        #expect(middle.requests.count == 1)
    }
}

@Suite("Kept jobs beside a daemon without room", .serialized, .timeLimit(.minutes(5)))
struct FullDaemonTests {
    private let upstream: StubRelay

    init() throws {
        upstream = try StubRelay(
            .respond { _ in .close("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") },
            name: "upstream"
        )
    }

    @Test("A 503 is asked again when the relay says, where the patience allows it")
    func queueFull() async throws {
        let daemon = try DaemonProcess(upstream: upstream, members: #", "limits": {"max_queued_jobs": 1}"#)
        try daemon.start()
        var later = SubmissionOptions()
        later.delay = .seconds(3_600)
        let first = try await daemon.client.keep(route: "hooks", key: "a", options: later)
        let error = await #expect(throws: RelayClientError.self) {
            try await daemon.client.keep(route: "hooks", key: "b", within: .seconds(9))
        }
        #expect(error?.problem?.code == "queue_full" && error?.problem?.status == 503)
        #expect(error?.problem?.retryAfter == .seconds(10) && error?.sent == .refused)
        let waits = Log()
        var patient = daemon.client
        patient.clock = ClientClock(
            now: ClientClock.machine.now,
            sleep: { duration in
                waits.note("\(duration)")
                _ = try daemon.client.blockingRequest(.post, "/v1/jobs/\(first.id)/cancel")
            }
        )
        let second = try await patient.keep(route: "hooks", key: "b", within: .seconds(60))
        #expect(!second.isReplayed && waits.lines == ["10.0 seconds"])
    }

    @Test("A 507 whose time is beyond the patience is told at once")
    func storageFull() async throws {
        let daemon = try DaemonProcess(upstream: upstream, storage: #", "max_size": "64MiB""#)
        try daemon.start()
        var later = SubmissionOptions()
        later.delay = .seconds(3_600)
        var client = daemon.client
        client.clock = ClientClock(
            now: ClientClock.machine.now,
            sleep: { _ in Issue.record("it was asked again") }
        )
        // Bytes that nothing makes smaller.
        var numbers = SplitMix64(seed: 7)
        let piece = (0..<65_536).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        let body = Array(repeatElement(piece, count: 128).joined())
        var found: RelayClientError?
        for number in 0..<100 where found == nil {
            do throws(RelayClientError) {
                try await client.keep(route: "hooks", body: body, key: "\(number)", options: later)
            } catch {
                found = error
            }
        }
        #expect(found?.problem?.code == "storage_full" && found?.problem?.status == 507)
        #expect(found?.problem?.retryAfter == .seconds(60) && found?.sent == .refused)
    }
}
