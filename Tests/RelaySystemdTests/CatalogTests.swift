import Glibc
import RelaySystemd
import Testing

@Suite("Message catalog")
struct CatalogTests {
    private let catalog: String

    init() throws {
        let tree = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        catalog = try #require(contents(of: "/\(tree)/deploy/systemd/waystationd.catalog"))
    }

    @Test("every id has one entry under its name, and every entry an id")
    func agreement() {
        let lines = catalog.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let entries = lines.indices.filter { lines[$0].hasPrefix("-- ") }.map { (lines[$0 - 1], lines[$0]) }
        #expect(entries.map { $0.0 } == MessageID.all.map { "# \($0.name)" })
        #expect(entries.map { $0.1 } == MessageID.all.map { "-- \($0.id.text)" })
        #expect(Set(MessageID.all.map(\.id)).count == MessageID.all.count)
    }

    @Test("every id is 128 bits in lower-case hexadecimal", arguments: MessageID.all.map(\.id.text))
    func digits(id: String) {
        #expect(id.count == 32)
        #expect(id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }

    @Test("every entry has a subject and text")
    func subjects() {
        for entry in catalog.split(separator: "\n-- ").dropFirst() {
            let parts = entry.split(separator: "\n\n", maxSplits: 1)
            #expect(parts[0].contains("\nSubject: "))
            #expect(parts.count == 2)
        }
    }
}

private func contents(of path: String) -> String? {
    guard let file = unsafe fopen(path, "r") else { return nil }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}
