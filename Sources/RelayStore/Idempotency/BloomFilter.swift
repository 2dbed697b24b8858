/// Says of most things that are not in a set that they are not (Bloom 1970), with sixteen bits a member: wrong for
/// about one in 2,000.
struct BloomFilter {
    private(set) var bytes: [UInt8]
    private static let probes = 8

    init(capacity: Int) {
        bytes = Array(repeating: 0, count: max(8, capacity * 2))
    }

    /// Takes a filter as it was kept.
    init(bytes: [UInt8]) { self.bytes = bytes.isEmpty ? [0xFF] : bytes }

    mutating func insert(_ value: KeyedHash.Value) {
        for probe in 0..<Self.probes {
            let bit = bitIndex(value, probe)
            bytes[bit >> 3] |= 1 << UInt8(bit & 7)
        }
    }

    func mayContain(_ value: KeyedHash.Value) -> Bool {
        for probe in 0..<Self.probes {
            let bit = bitIndex(value, probe)
            if bytes[bit >> 3] & 1 << UInt8(bit & 7) == 0 { return false }
        }
        return true
    }

    /// Two hashes make as many as are wanted (Kirsch and Mitzenmacher 2006).
    private func bitIndex(_ value: KeyedHash.Value, _ probe: Int) -> Int {
        let hash = value.high &+ UInt64(probe) &* (value.low | 1)
        return Int(hash % UInt64(bytes.count * 8))
    }
}
