/// A set that may report a value it does not hold, but never misses one that it does (Bloom 1970).
///
/// Sixteen bits a value and eight probes give one false positive in about 1,800 looks, up to its capacity: it does not grow.
struct BloomFilter {
    private(set) var bytes: [UInt8]
    private static let probes = 8
    private static let bytesPerValue = 2

    init(capacity: Int) {
        // Never empty: the number of bits is a divisor.
        bytes = Array(repeating: 0, count: max(8, capacity * Self.bytesPerValue))
    }

    /// A filter as it was kept; nil where it cannot have been one.
    init?(bytes: [UInt8]) {
        guard bytes.count >= 8 else { return nil }
        self.bytes = bytes
    }

    mutating func insert(_ value: KeyedHash.Value) {
        for probe in 0..<Self.probes {
            let bit = bitIndex(value, probe)
            bytes[bit >> 3] |= 1 << UInt8(bit & 7)
        }
    }

    func mayContain(_ value: KeyedHash.Value) -> Bool {
        for probe in 0..<Self.probes {
            let bit = bitIndex(value, probe)
            if bytes[bit >> 3] & (1 << UInt8(bit & 7)) == 0 { return false }
        }
        return true
    }

    /// The place of one probe, made of the two halves of the value (Kirsch and Mitzenmacher 2006).
    private func bitIndex(_ value: KeyedHash.Value, _ probe: Int) -> Int {
        // An odd step is never zero, so that the probes of a value differ.
        let hash = value.high &+ UInt64(probe) &* (value.low | 1)
        return Int(hash % UInt64(bytes.count * 8))
    }
}
