import RelayJobs
import RelayRecords

/// A row of `claimed`: plain jobs that one call has claimed, until none of them runs.
///
/// It is all that says after a crash that they may have been sent. How far it reaches stands beside its record with a
/// sum of its own: where the record is damaged, that is what its jobs are known by.
struct ClaimedRow {
    /// The attempt that one claim begins: no two jobs of it go to different upstreams or began at different times.
    var begun: BegunAttempt
    private(set) var claims: [(seq: Int64, token: UInt64)] = []

    private static let layout: UInt64 = 1

    init(_ begun: BegunAttempt) { self.begun = begun }

    mutating func add(_ seq: Int64, token: UInt64) { claims.append((seq, token)) }

    /// The first and the last position.
    var reach: ClosedRange<Int64> {
        var (low, high) = (Int64.max, Int64.min)
        for claim in claims { (low, high) = (min(low, claim.seq), max(high, claim.seq)) }
        return low...max(low, high)
    }

    func sealed(at number: Int64) -> [UInt8] {
        var writer = RecordWriter(capacity: 64 + claims.count * 3)
        writer.add(Self.layout)
        writer.add(begun.beganAt)
        writer.add(begun.upstream)
        writer.add(UInt64(claims.count))
        var last: (seq: Int64, token: Int64) = (0, 0)
        for claim in claims {
            let token = Int64(bitPattern: claim.token)
            writer.add(claim.seq &- last.seq)
            writer.add(token &- last.token)
            last = (claim.seq, token)
        }
        return writer.sealed(at: number)
    }

    init(sealed bytes: [UInt8], at number: Int64) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, at: number)
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let beganAt = try reader.signed()
        begun = BegunAttempt(upstream: try reader.text(), beganAt: beganAt)
        var last: (seq: Int64, token: Int64) = (0, 0)
        for _ in 0..<(try reader.count()) {
            last = (last.seq &+ (try reader.signed()), last.token &+ (try reader.signed()))
            claims.append((last.seq, UInt64(bitPattern: last.token)))
        }
    }

    static func sum(_ number: Int64, _ reach: ClosedRange<Int64>) -> Int64 {
        var sum = Checksum(of: number)
        sum.add(reach.lowerBound)
        sum.add(reach.upperBound)
        return Int64(sum.value)
    }
}
