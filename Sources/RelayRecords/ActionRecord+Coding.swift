import RelayBase
import RelayJobs

extension [ActionRecord] {
    private static let layout: UInt64 = 1

    /// The records of the job at `seq`, as they stand in its row.
    package func sealed(at seq: Int64) -> [UInt8] {
        var writer = RecordWriter()
        writer.add(Self.layout)
        writer.add(UInt64(count))
        for record in self {
            writer.add(record.action.rawValue)
            writer.add(record.at)
            writer.add(record.by != nil)
            writer.add(UInt64(record.by?.user ?? 0))
            writer.add(record.isBulk)
            writer.add(record.isAsked)
        }
        // Behind the rest, so that records from before them are read as they are.
        let hasNodes = contains { $0.by?.node.text != nil }
        if hasNodes || contains(where: { $0.by?.name != nil }) {
            for record in self { writer.add(record.by?.name) }
        }
        if hasNodes { for record in self { writer.add(record.by?.node.text) } }
        return writer.sealed(at: seq)
    }

    package init(sealed bytes: [UInt8], at seq: Int64) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, at: seq)
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        self = []
        for _ in 0..<(try reader.count()) {
            guard let action = JobAction(rawValue: try reader.text()) else { throw RecordReader.Damage() }
            let at = try reader.signed()
            let isNamed = try reader.flag()
            let user = UInt32(truncatingIfNeeded: try reader.number())
            let isBulk = try reader.flag()
            append(
                ActionRecord(
                    action,
                    at: at,
                    by: isNamed ? Principal(user) : nil,
                    isBulk: isBulk,
                    isAsked: try reader.flag()
                )
            )
        }
        guard !reader.isAtEnd else { return }
        for index in indices {
            let name = try reader.optionalText()
            self[index].by?.name = name
        }
        guard !reader.isAtEnd else { return }
        for index in indices {
            let node = NodeName(try reader.optionalText())
            self[index].by?.node = node
        }
    }
}
