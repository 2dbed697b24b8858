import RelayBase
import RelayJobs
import RelayRecords

/// Attempts and bodies as the columns keep them.
enum FleetContent {
    /// Attempts that follow the first `count` of a job, with their numbers and who made them: `node` where they do not
    /// say.
    static func sealed(
        _ attempts: [Attempt],
        after count: UInt32,
        for id: JobID,
        by node: NodeName
    ) -> [UInt8]? {
        guard !attempts.isEmpty else { return nil }
        var writer = RecordWriter()
        writer.add(UInt64(attempts.count))
        for (index, attempt) in attempts.enumerated() {
            writer.add(attempt.sealed(at: AttemptKey.make(0, Int(count) + index + 1)))
            writer.add(UInt64(count) + UInt64(index) + 1)
            writer.add(attempt.node.text ?? node.text)
        }
        return writer.sealed(behind: Checksum(of: id))
    }

    static func attempts(sealed bytes: [UInt8], for id: JobID) throws(RecordReader.Damage) -> [Attempt] {
        var reader = try RecordReader(sealed: bytes, behind: Checksum(of: id))
        var attempts: [Attempt] = []
        for _ in 0..<(try reader.count()) {
            let record = try reader.data()
            let number = Int(clamping: try reader.number())
            var attempt = try Attempt(sealed: record, at: AttemptKey.make(0, number))
            attempt.number = number
            attempt.node = NodeName(try reader.optionalText())
            attempts.append(attempt)
        }
        return attempts
    }

    /// A body with its checksum behind it.
    static func sealed(_ body: [UInt8], for id: JobID) -> [UInt8] {
        var sum = Checksum(of: id)
        sum.add(body)
        return body + (0..<4).map { UInt8(truncatingIfNeeded: sum.value >> (8 * UInt32($0))) }
    }

    static func body(sealed bytes: [UInt8], for id: JobID) throws(StoreError) -> [UInt8] {
        guard bytes.count >= 4 else { throw .damaged("the body of job \(id)") }
        let body = Array(bytes.dropLast(4))
        guard sealed(body, for: id) == bytes else { throw .damaged("the body of job \(id)") }
        return body
    }
}
