import CLinux
import Glibc
import Testing

@Suite("Pages that only the start needed")
struct StartPagesTests {
    /// Kilobytes of files that are mapped and resident, of this process.
    private func resident() -> Int {
        guard let file = unsafe fopen("/proc/self/smaps_rollup", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var facts: [String: Int] = [:]
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, 256, file) != nil {
            let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
            if words.count == 3 { facts[String(words[0])] = Int(words[1]) }
        }
        return facts["Rss:", default: 0] - facts["Anonymous:", default: 0]
    }

    @Test("They are given back, and what is needed again is as it was")
    func released() {
        // Written after the start, beside what is given back.
        let written = [UInt8]((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        let before = resident()
        let told = relay_release_start_pages()
        let after = resident()
        #expect(told > 1 << 20)
        // Other tests are at work meanwhile, so some of it is there again at once.
        #expect(after < before)
        #expect(written.enumerated().allSatisfy { UInt8(truncatingIfNeeded: $0.offset) == $0.element })
        #expect("\(Double.pi)" == "3.141592653589793")
    }
}
