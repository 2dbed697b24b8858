import RelayJSON

/// IP addresses as text: only the forms that mean one thing everywhere.
package enum AddressText {
    /// Reads `192.0.2.1` or `2001:db8::1`, without brackets, zone or leading zeros in the dotted form.
    ///
    /// - Returns: four or sixteen bytes in network order.
    package static func parse(_ text: some StringProtocol) -> [UInt8]? {
        text.utf8.contains(UInt8(ascii: ":")) ? parseIPv6(text) : parseIPv4(text)
    }

    private static func parseIPv4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
                part.utf8.count == 1 || part.utf8.first != UInt8(ascii: "0"), let byte = UInt8(part)
            else { return nil }
            address.append(byte)
        }
        return address
    }

    /// RFC 4291 §2.2: groups of hexadecimal digits, `::` at most once, the last 32 bits dotted if wanted.
    private static func parseIPv6(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count <= 45 else { return nil }
        var halves: [[UInt8]] = [[]]
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (3...9).contains(groups.count) else { return nil }
        for (index, group) in groups.enumerated() {
            if group.isEmpty {
                if index == 0 {
                    guard groups[1].isEmpty else { return nil }
                } else if index == groups.count - 1 {
                    guard groups[index - 1].isEmpty else { return nil }
                } else {
                    guard halves.count == 1 else { return nil }
                    halves.append([])
                }
            } else if group.utf8.contains(UInt8(ascii: ".")) {
                guard index == groups.count - 1, let dotted = parseIPv4(group) else { return nil }
                halves[halves.count - 1] += dotted
            } else {
                guard group.utf8.count <= 4, group.utf8.allSatisfy({ $0.hexadecimalValue != nil }),
                    let value = UInt16(group, radix: 16)
                else { return nil }
                halves[halves.count - 1] += [UInt8(value >> 8), UInt8(value & 0xFF)]
            }
        }
        let count = halves.reduce(0) { $0 + $1.count }
        guard halves.count == 2 else { return count == 16 ? halves[0] : nil }
        // "::" stands for at least one group of zeros.
        return count <= 14 ? halves[0] + [UInt8](repeating: 0, count: 16 - count) + halves[1] : nil
    }
}
