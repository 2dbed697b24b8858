import RelayJSON

/// Text that may be percent-encoded, also more than once, where a query stands in a query.
struct EncodedText {
    /// Each byte as it is meant, and where it stands.
    private var bytes: [(value: UInt8, range: Range<Int>)]

    /// Times that text is decoded: more is no spelling that anybody reads.
    private static let depth = 4

    init(_ text: [UInt8]) {
        bytes = text.indices.map { (text[$0], $0..<$0 + 1) }
    }

    /// Where `wanted` stands, in whichever spelling; nil where it does not.
    func range(of wanted: [UInt8]) -> Range<Int>? {
        var text = self
        for _ in 0...EncodedText.depth {
            if let range = text.plainRange(of: wanted) { return range }
            guard text.decode() else { return nil }
        }
        return nil
    }

    private func plainRange(of wanted: [UInt8]) -> Range<Int>? {
        guard !wanted.isEmpty, wanted.count <= bytes.count else { return nil }
        for start in 0...bytes.count - wanted.count {
            let isThere = wanted.indices.allSatisfy { index in
                let value = bytes[start + index].value
                return value == wanted[index]
                    || value == UInt8(ascii: "+") && wanted[index] == UInt8(ascii: " ")
            }
            if isThere {
                return bytes[start].range.lowerBound..<bytes[start + wanted.count - 1].range.upperBound
            }
        }
        return nil
    }

    /// Undoes one encoding; an escape that is none stands for itself.
    ///
    /// - Returns: whether there was one.
    private mutating func decode() -> Bool {
        var decoded: [(value: UInt8, range: Range<Int>)] = []
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte.value == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].value.hexadecimalValue,
                let low = bytes[index + 2].value.hexadecimalValue
            {
                let range = byte.range.lowerBound..<bytes[index + 2].range.upperBound
                decoded.append((high << 4 | low, range))
                index += 3
            } else {
                decoded.append(byte)
                index += 1
            }
        }
        defer { bytes = decoded }
        return decoded.count < bytes.count
    }
}
