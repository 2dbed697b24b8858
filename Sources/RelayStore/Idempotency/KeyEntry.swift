import RelayBase
import RelayRecords

/// The facts known of one idempotency key.
struct KeyEntry {
    var id: JobID
    /// Of the fingerprint.
    var print: KeyedHash.Value
    /// The end of its window, on the line.
    var until: Int64

    /// Forty bytes, then `key` where it does not stand beside them, then the checksum.
    func sealed(with key: KeyedHash.Value) -> [UInt8] {
        var writer = RecordWriter()
        for word in [id.high, id.low, print.high, print.low, key.high, key.low] { writer.add(word) }
        writer.add(until)
        return writer.sealed(at: 0)
    }

    /// The key and what is known of it.
    static func read(_ bytes: [UInt8]) throws(RecordReader.Damage) -> (key: KeyedHash.Value, entry: KeyEntry)
    {
        var reader = try RecordReader(sealed: bytes, at: 0)
        let id = JobID(high: try reader.number(), low: try reader.number())
        let print = KeyedHash.Value(high: try reader.number(), low: try reader.number())
        let key = KeyedHash.Value(high: try reader.number(), low: try reader.number())
        return (key, KeyEntry(id: id, print: print, until: try reader.signed()))
    }
}

extension KeyedHash.Value: Comparable {
    static func < (lhs: Self, rhs: Self) -> Bool { (lhs.high, lhs.low) < (rhs.high, rhs.low) }

    /// Sixteen bytes that sort like the value.
    var bytes: [UInt8] { JobID(high: high, low: low).bytes }
}
