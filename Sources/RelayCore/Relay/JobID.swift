/// A ULID: 48 bits of milliseconds since 1970 and 80 random bits; sorts by time as number and as text.
package struct JobID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(milliseconds: Int64, random: (UInt64, UInt64)) {
        high = UInt64(bitPattern: milliseconds) << 16 | random.0 & 0xFFFF
        low = random.1
    }

    /// Appends the text of the id.
    package func append(to output: inout [UInt8]) {
        for index in 0..<26 { output.append(digit(index)) }
    }

    /// 26 characters of Crockford's base 32.
    package var description: String {
        unsafe String(unsafeUninitializedCapacity: 26) { buffer in
            for index in 0..<26 { unsafe buffer[index] = digit(index) }
            return 26
        }
    }

    private func digit(_ index: Int) -> UInt8 {
        let digits: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        // The text has 130 bits; the first digit holds only the top three of the id's 128.
        let shift = (25 - index) * 5
        let bits: UInt64 =
            if shift >= 64 {
                high >> (shift - 64)
            } else if shift > 59 {
                low >> shift | high << (64 - shift)
            } else {
                low >> shift
            }
        return unsafe digits.utf8Start[Int(bits & 31)]
    }
}
