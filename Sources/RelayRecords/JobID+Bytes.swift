package import RelayBase

extension JobID {
    /// Sixteen bytes that sort like the id.
    package var bytes: [UInt8] {
        unsafe Array(unsafeUninitializedCapacity: 16) { bytes, count in
            let target = UnsafeMutableRawBufferPointer(bytes)
            unsafe target.storeBytes(of: high.bigEndian, as: UInt64.self)
            unsafe target.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            count = 16
        }
    }

    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func word(_ start: Int) -> UInt64 {
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(high: word(0), low: word(8))
    }
}
