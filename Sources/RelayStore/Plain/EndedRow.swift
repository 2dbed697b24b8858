import RelayBase
import RelayJobs
import RelayRecords

/// A row of `ended`: how a plain job succeeded at its first attempt.
struct EndedRow {
    var finishedAt: Int64
    var attempt: Attempt
    var answer: StoredAnswer?

    private static let layout: UInt64 = 1

    private enum Answer {
        static let none: UInt64 = 0
        static let withoutBody: UInt64 = 1
        static let withBody: UInt64 = 2
    }

    /// Whether a settlement of a plain job needs no other row.
    static func fits(_ settlement: Settlement) -> Bool {
        guard settlement.ending == .succeeded, settlement.attempts.count == 1, settlement.attempts[0].isSpent,
            !settlement.dropsBody, settlement.failureKind == nil
        else { return false }
        if case .file? = settlement.answer?.body { return false }
        return true
    }

    private static func sum(_ seq: Int64, _ route: Int64, _ finishedAt: Int64) -> Checksum {
        var sum = Checksum(of: seq)
        sum.add(route)
        sum.add(finishedAt)
        return sum
    }

    /// Writes the record of one that fits, with the checksum.
    static func write(
        _ settlement: Settlement,
        at seq: Int64,
        route: Int64,
        _ finishedAt: Int64,
        to writer: inout RecordWriter
    ) {
        var body: [UInt8]?
        if case .bytes(let bytes)? = settlement.answer?.body { body = bytes }
        writer.add(layout)
        writer.add(
            settlement.answer == nil ? Answer.none : body == nil ? Answer.withoutBody : Answer.withBody
        )
        settlement.answer?.addHead(to: &writer)
        if let body { writer.add(body) }
        settlement.attempts[0].add(to: &writer)
        writer.seal(behind: sum(seq, route, finishedAt))
    }

    /// A row of position, route, finish and record.
    init(_ row: Statement) throws(RecordReader.Damage) {
        finishedAt = row.int(2)
        var reader = try RecordReader(
            sealed: row.bytes(3),
            behind: Self.sum(row.int(0), row.int(1), finishedAt)
        )
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let kind = try reader.number()
        if kind != Answer.none {
            var answer = try StoredAnswer(headFrom: &reader, body: nil)
            if kind == Answer.withBody { answer.body = .bytes(try reader.data()) }
            self.answer = answer
        }
        attempt = try Attempt(number: 1, from: &reader)
    }
}
