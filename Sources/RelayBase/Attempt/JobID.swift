/// A ULID: 48 bits of milliseconds since 1970 and 80 random bits; sorts by time as number and as text.
package struct JobID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(milliseconds: Int64, random: (UInt64, UInt64)) {
        high = UInt64(bitPattern: milliseconds) << 16 | random.0 & 0xFFFF
        low = random.1
    }

    /// Appends the text of the id.
    package func append(to output: inout OutputBuffer) { output.append(text.span) }

    /// The characters of the description, for who writes them more than once.
    package var text: InlineArray<26, UInt8> {
        var text = InlineArray<26, UInt8>(repeating: 0)
        var characters = text.mutableSpan
        unsafe characters.withUnsafeMutableBufferPointer { unsafe write(into: $0) }
        return text
    }

    /// 26 characters of Crockford's base 32.
    package var description: String {
        unsafe String(unsafeUninitializedCapacity: 26) { buffer in
            unsafe write(into: buffer)
            return 26
        }
    }

    /// Writes the 26 characters.
    package func write(to start: UnsafeMutablePointer<UInt8>) {
        unsafe write(into: UnsafeMutableBufferPointer(start: start, count: 26))
    }

    private func write(into buffer: UnsafeMutableBufferPointer<UInt8>) {
        let digits: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        // The text has 130 bits; the first digit holds only the top three of the id's 128.
        var (high, low) = (high, low)
        for index in (0..<26).reversed() {
            unsafe buffer[index] = digits.utf8Start[Int(low & 31)]
            low = low >> 5 | high << 59
            high >>= 5
        }
    }
}
