import RelayBase
import RelayJobs
import RelayRecords
import Testing

@testable import RelayStore

@Suite("The record of an attempt", .timeLimit(.minutes(5)))
struct AttemptCodingTests {
    @Test("A record from before these members is read without them", arguments: [false, true])
    func old(wasResent: Bool) throws {
        var writer = RecordWriter()
        writer.add(UInt64(1))
        writer.add("eu")
        writer.add(String?.none)
        writer.add(Int64(7))
        for _ in 0..<3 { writer.add(Duration.milliseconds(9)) }
        writer.add(Duration?.none)
        writer.add("unknown")
        writer.add(UInt64(0))
        writer.add(String?.some("connection_terminated"))
        writer.add(String?.none)
        writer.add(String?.some("other"))
        writer.add(String?.some("failover"))
        writer.add(Duration?.none)
        writer.add(true)
        writer.add(UInt64(0))
        if wasResent { writer.add(true) }
        let attempt = try Attempt(sealed: writer.sealed(at: 3), at: 3)
        #expect(attempt.number == 3 && attempt.beganAt == 7 && attempt.sent == .unknown && attempt.isSpent)
        #expect(attempt.failure?.kind == .connectionTerminated && attempt.next == .failover(to: nil))
        #expect(attempt.exchange?.wasResent == wasResent && attempt.failure?.apiCode == nil)
    }
}
