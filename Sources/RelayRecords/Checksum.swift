import CLinux

/// CRC-32C (Castagnoli; RFC 9260, appendix A), eight bytes a step: finds every burst of up to 32 wrong bits.
package struct Checksum {
    private var state: UInt32 = 0xFFFF_FFFF

    /// Eight tables of 256: how a byte acts from one to eight places away.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
            tables[index] = value
        }
        for index in 256..<8 * 256 {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()

    package var value: UInt32 { ~state }

    package init() {}

    package init(of place: Int64) { add(place) }

    package mutating func add(_ number: Int64) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe add($0) }
    }

    package mutating func add(_ numbers: [Int64]) {
        // In the order of bytes that they are summed in everywhere.
        guard 1.littleEndian == 1 else {
            for number in numbers { add(number) }
            return
        }
        unsafe numbers.withUnsafeBytes { unsafe add($0) }
    }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { unsafe add(UnsafeRawBufferPointer($0)) }
    }

    package mutating func add(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe add($0) }
    }

    /// Whether the processor does it: ten times as fast as tables.
    private static let isBuiltIn = relay_has_crc32c() != 0

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard Self.isBuiltIn else {
            unsafe addByTables(bytes)
            return
        }
        guard let start = bytes.baseAddress else { return }
        state = unsafe relay_crc32c(state, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// The same on any processor.
    package mutating func addByTables(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        unsafe Self.tables.withUnsafeBufferPointer { tables in
            var index = 0
            let whole = bytes.count & ~7
            while index < whole {
                let low =
                    unsafe UInt32(
                        littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                    ) ^ state
                let high = unsafe UInt32(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self)
                )
                let near =
                    unsafe tables[Int(high >> 24)] ^ tables[256 + Int(high >> 16 & 0xFF)]
                    ^ tables[512 + Int(high >> 8 & 0xFF)] ^ tables[768 + Int(high & 0xFF)]
                let far =
                    unsafe tables[1_024 + Int(low >> 24)] ^ tables[1_280 + Int(low >> 16 & 0xFF)]
                    ^ tables[1_536 + Int(low >> 8 & 0xFF)] ^ tables[1_792 + Int(low & 0xFF)]
                state = near ^ far
                index += 8
            }
            while index < bytes.count {
                state = unsafe state >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: state) ^ bytes[index])]
                index += 1
            }
        }
        self.state = state
    }

    /// The sum of bytes that belong to the record at `place`: bytes of another record do not pass.
    package static func of(_ bytes: [UInt8], at place: Int64) -> UInt32 {
        var sum = Checksum(of: place)
        sum.add(bytes)
        return sum.value
    }
}
