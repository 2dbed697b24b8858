/// SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012): whoever does not know the key cannot make two texts meet.
struct KeyedHash {
    struct Value: Hashable {
        var high: UInt64
        var low: UInt64
    }

    let key: (UInt64, UInt64)

    func callAsFunction(_ bytes: [UInt8]) -> Value {
        var state = State(key)
        let whole = bytes.count & ~7
        unsafe bytes.withUnsafeBytes { bytes in
            for index in stride(from: 0, to: whole, by: 8) {
                unsafe state.take(
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                )
            }
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        for index in whole..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index - whole)) }
        state.take(last)
        return state.finish()
    }

    private struct State {
        var v0, v1, v2, v3: UInt64

        init(_ key: (UInt64, UInt64)) {
            v0 = key.0 ^ 0x736f_6d65_7073_6575
            v1 = key.1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
            v2 = key.0 ^ 0x6c79_6765_6e65_7261
            v3 = key.1 ^ 0x7465_6462_7974_6573
        }

        mutating func take(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> Value {
            v2 ^= 0xee
            for _ in 0..<4 { round() }
            let low = v0 ^ v1 ^ v2 ^ v3
            v1 ^= 0xdd
            for _ in 0..<4 { round() }
            return Value(high: v0 ^ v1 ^ v2 ^ v3, low: low)
        }

        private mutating func round() {
            v0 &+= v1
            v1 = v1 << 13 | v1 >> 51
            v1 ^= v0
            v0 = v0 << 32 | v0 >> 32
            v2 &+= v3
            v3 = v3 << 16 | v3 >> 48
            v3 ^= v2
            v0 &+= v3
            v3 = v3 << 21 | v3 >> 43
            v3 ^= v0
            v2 &+= v1
            v1 = v1 << 17 | v1 >> 47
            v1 ^= v2
            v2 = v2 << 32 | v2 >> 32
        }
    }
}
