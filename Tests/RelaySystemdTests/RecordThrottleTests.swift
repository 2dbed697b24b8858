import RelaySystemd
import Testing

@Suite("Record throttle")
struct RecordThrottleTests {
    private let minute: Int64 = 60_000_000_000
    private let key = RecordThrottle.Key(route: "billing", kind: "connection_refused")

    @Test("the first records of a minute are written, the others told in one")
    func summary() {
        var throttle = RecordThrottle(allowance: 2)
        let written = (0..<216).map { throttle.admits(key, at: Int64($0)) }
        #expect(written == [true, true] + Array(repeating: false, count: 214))
        #expect(throttle.due == minute)
        expect(throttle.windowsEnded(at: minute - 1), [])
        let summaries = throttle.windowsEnded(at: minute)
        #expect(summaries == [RecordThrottle.Summary(key: key, count: 214)])
        #expect(
            summaries.first?.record.message
                == "and 214 more connection_refused on route billing in the last minute"
        )
        expect(throttle.admits(key, at: minute), true)
    }

    @Test("a quiet minute is not told")
    func quiet() {
        var throttle = RecordThrottle(allowance: 2)
        expect(throttle.admits(key, at: 0), true)
        expect(throttle.windowsEnded(at: minute), [])
        #expect(throttle.due == nil)
    }

    @Test("routes and kinds do not take each other's allowance")
    func separate() {
        var throttle = RecordThrottle(allowance: 1)
        expect(throttle.admits(key, at: 0), true)
        expect(throttle.admits(.init(route: "billing", kind: "http_status"), at: 0), true)
        expect(throttle.admits(.init(route: "stock", kind: "connection_refused"), at: 0), true)
        expect(throttle.admits(key, at: 0), false)
    }

    @Test("the number of windows is bounded; what is beyond shares one")
    func bounded() {
        var throttle = RecordThrottle(allowance: 1, maxKeys: 2)
        let written = (0..<10).map { throttle.admits(.init(route: "r\($0)", kind: "k"), at: 0) }
        #expect(written == [true, true, true] + Array(repeating: false, count: 7))
        expect(throttle.finish(), [.init(key: .init(route: "(others)", kind: "records"), count: 7)])
    }

    @Test("what was counted is told at the end of the process")
    func finish() {
        var throttle = RecordThrottle(allowance: 0)
        expect(throttle.admits(key, at: 0), false)
        expect(throttle.finish(), [.init(key: key, count: 1)])
        expect(throttle.finish(), [])
    }
}

/// `#expect` evaluates its operands apart, which a mutating call does not stand.
func expect<Value: Equatable>(
    _ value: Value,
    _ expected: Value,
    at location: SourceLocation = #_sourceLocation
) {
    #expect(value == expected, sourceLocation: location)
}
