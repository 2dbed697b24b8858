import RelayBase
import RelayClient
import Synchronization
import Testing

private let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"

private func event(_ number: Int, _ type: String, job: String? = nil) -> String {
    let job = job.map { #","job":"\#($0)""# } ?? ""
    return
        #"{"type":"waystation.\#(type)","id":"\#(number)","data":{"route":"a"\#(job),"attempt":2,"wait_ms":1500}}"#
        + "\n"
}

private let heartbeat = #"{"type":"waystation.heartbeat","time":"2026-11-21T05:17:40.302Z"}"# + "\n"

private func id(_ letter: String) -> String { "01K9ZQ3V7N4T0C8R5B2M6XW1" + letter + "0" }

private func job(_ id: String, _ state: String) -> StubRelay.Reply {
    let body = #"{"id":"\#(id)","state":"\#(state)"}"#
    return .close("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
}

@Suite("Events of the relay", .timeLimit(.minutes(5)))
struct EventsTests {
    @Test("a stream that breaks goes on after the last event, and says what is gone")
    func reconnect() async throws {
        let connections = Mutex(0)
        let relay = try StubRelay(
            .respond { _ in
                let number = connections.withLock { count in
                    count += 1
                    return count
                }
                let gap = #"{"type":"waystation.gap","id":"9","data":{"lost":6}}"# + "\n"
                return number == 1
                    ? .close(head + heartbeat + event(2, "job.accepted") + event(3, "job.attempt.failed"))
                    : .stayOpen(head + gap + event(10, "job.dead"))
            }
        )
        var told: [String] = []
        for try await notice in relay.client.events(after: "1") {
            switch notice {
            case .event(let event):
                told.append(
                    "\(event.id) \(event.type) \(event.attempt ?? 0) \(event.wait == .milliseconds(1500))"
                )
            case .gap(let lost): told.append("gap \(lost ?? 0)")
            }
            if told.count == 4 { break }
        }
        #expect(
            told == [
                "2 waystation.job.accepted 2 true", "3 waystation.job.attempt.failed 2 true", "gap 6",
                "10 waystation.job.dead 2 true",
            ]
        )
        #expect(relay.requests.map { $0.contains("Last-Event-ID: 1\r\n") } == [true, false])
        #expect(relay.requests[1].contains("Last-Event-ID: 3\r\n"))
        #expect(relay.requests[0].contains("Accept: application/x-ndjson\r\n"))
    }

    @Test("without an event to go on after, a break is a gap of unknown size")
    func unknownGap() async throws {
        let connections = Mutex(0)
        let relay = try StubRelay(
            .respond { _ in
                let isFirst = connections.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? .close(head + heartbeat) : .stayOpen(head)
            }
        )
        var events = relay.client.events().makeAsyncIterator()
        let notice = try await events.next()
        guard case .gap(nil) = notice else {
            Issue.record("the notice is \(String(describing: notice))")
            return
        }
        #expect(!relay.requests[0].contains("Last-Event-ID"))
    }

    @Test("a reader that is cancelled while nothing happens ends at once")
    func cancellation() async throws {
        let relay = try StubRelay(.respond { _ in .stayOpen(head + event(1, "job.accepted")) })
        let (began, begin) = AsyncStream<Void>.makeStream()
        let reader = Task {
            for try await _ in relay.client.events() { begin.yield() }
        }
        for await _ in began { break }
        reader.cancel()
        let error = await #expect(throws: RelayClientError.self) { try await reader.value }
        #expect(error?.code == .cancelled)
    }

    @Test("a relay that refuses, or is not there, is an error at once")
    func refusal() async throws {
        let relay = try StubRelay(.answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n{}"))
        var events = relay.client.events().makeAsyncIterator()
        let refused = await #expect(throws: RelayClientError.self) { _ = try await events.next() }
        #expect(refused?.code == .refused && refused?.problem?.status == 403)
        var away = RelayClient(socketPath: "/tmp/waystation-no-such.sock").events().makeAsyncIterator()
        let error = await #expect(throws: RelayClientError.self) { _ = try await away.next() }
        #expect(error?.code == .notReachable)
    }

    @Test("a line cut anywhere is one line, and one without an end is an error and not memory")
    func lines() throws {
        var lines = LineBuffer(limit: 8)
        #expect(try lines.take(Array("ab".utf8)) == [])
        #expect(
            try lines.take(Array("c\n\nde\nf".utf8)).map { String(decoding: $0, as: UTF8.self) } == [
                "abc", "de",
            ]
        )
        #expect(throws: RelayClientError.self) { try lines.take(Array("12345678".utf8)) }
    }
}

@Suite("Ends of many jobs", .timeLimit(.minutes(5)))
struct OutcomesTests {
    @Test("each job's end comes when it ends, in whichever order, and a missing job ends nothing else")
    func outcomes() async throws {
        let stub = Mutex<StubRelay?>(nil)
        let asked = Mutex(0)
        let relay = try StubRelay(
            .respond { request in
                if request.hasPrefix("GET /v1/events") { return .stayOpen(head) }
                if request.contains(id("B")) { return job(id("B"), "succeeded") }
                if request.contains(id("C")) {
                    return .close("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
                }
                // The slow one ends after it was first looked at.
                let isFirst = asked.withLock { count in
                    count += 1
                    return count == 1
                }
                guard isFirst else { return job(id("A"), "dead") }
                defer { stub.withLock { $0?.tell(event(7, "job.dead", job: id("A"))) } }
                return job(id("A"), "queued")
            }
        )
        stub.withLock { $0 = relay }
        defer { stub.withLock { $0 = nil } }
        var ends: [String: String] = [:]
        for try await end in relay.client.outcomes(of: [id("A"), id("B"), id("C")]) {
            switch end.result {
            case .success(let job): ends[end.id] = job.state.rawValue
            case .failure(let error): ends[end.id] = "\(error.code)"
            }
        }
        #expect(ends == [id("A"): "dead", id("B"): "succeeded", id("C"): "refused"])
    }

    @Test("a connection that breaks makes every job be looked at again")
    func lostEvents() async throws {
        let connections = Mutex(0)
        let relay = try StubRelay(
            .respond { request in
                guard request.hasPrefix("GET /v1/events") else {
                    return job(id("A"), connections.withLock { $0 } == 1 ? "running" : "expired")
                }
                let isFirst = connections.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? .close(head + heartbeat) : .stayOpen(head)
            }
        )
        var states: [Job.State] = []
        for try await end in relay.client.outcomes(of: [id("A")]) {
            states.append(try end.result.get().state)
        }
        #expect(states == [.expired])
    }

    @Test("no ids are no ends, and a relay that is not there is an error")
    func nothing() async throws {
        let relay = try StubRelay(.respond { _ in .stayOpen(head) })
        for try await end in relay.client.outcomes(of: []) {
            Issue.record("\(end.id) has ended")
        }
        await #expect(throws: RelayClientError.self) {
            for try await _ in RelayClient(socketPath: "/tmp/waystation-no-such.sock").outcomes(of: [id("A")])
            {}
        }
    }
}
