import RelayEngine
import RelayJobs
import RelayRoute
import Testing

@Suite("Events of other daemons that are gone")
struct EventGapTests {
    @Test("A reader that asks for some events alone is told how many of another daemon are gone")
    func gap() throws {
        let served = try ServedLoop(role: .read)
        served.durable.feed.take(.lost(3, at: 1))
        let caller = try LoopbackCaller(served.address)
        caller.send(
            "GET /v1/events?after=0&type=waystation.job.dead&route=up HTTP/1.1\r\nHost: localhost\r\n"
                + "Accept: application/x-ndjson\r\n\r\n"
        )
        let told = caller.read(until: "\"lost\":3")
        #expect(told.contains("\"lost\":3") && told.contains("waystation.gap"), "\(told)")
    }
}
