import RelayRecords
import Testing

@testable import RelayStore

@Suite("Checksums are the same on every processor", .timeLimit(.minutes(5)))
struct ChecksumTests {
    private func byTables(_ bytes: [UInt8]) -> UInt32 {
        var sum = Checksum()
        unsafe bytes.withUnsafeBytes { unsafe sum.addByTables($0) }
        return sum.value
    }

    private func builtIn(_ bytes: [UInt8]) -> UInt32 {
        var sum = Checksum()
        sum.add(bytes)
        return sum.value
    }

    @Test("The check value of CRC-32C comes out both ways")
    func checkValue() {
        #expect(builtIn(Array("123456789".utf8)) == 0xE306_9283)
        #expect(byTables(Array("123456789".utf8)) == 0xE306_9283)
    }

    @Test("Both ways agree on any length and any start", arguments: 0..<40)
    func agreement(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 151 + 7) }
        #expect(builtIn(bytes) == byTables(bytes))
        #expect(builtIn(Array(bytes.dropFirst(3))) == byTables(Array(bytes.dropFirst(3))))
    }

    @Test("Bytes added in pieces have the sum of the whole")
    func pieces() {
        let bytes = (0..<100).map { UInt8($0) }
        var sum = Checksum()
        sum.add(Array(bytes[..<13]))
        sum.add(Array(bytes[13...]))
        #expect(sum.value == byTables(bytes))
    }
}
