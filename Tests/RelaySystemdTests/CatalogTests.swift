import Glibc
import RelaySystemd
import Testing

@Suite("Message catalog")
struct CatalogTests {
    private let catalog: String
    /// The ids of the table, and those in the rows of events.
    private let ids: [(name: String, text: String)]

    init() throws {
        let tree = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        catalog = try #require(contents(of: "/\(tree)/deploy/systemd/waystationd.catalog"))
        let table = try #require(contents(of: "/\(tree)/Sources/RelaySystemd/Journal/MessageID.swift"))
        let rows = try #require(contents(of: "/\(tree)/Sources/RelayJobs/EventKind.swift"))
        ids =
            table.matches(of: /MessageID\(\s*"(.*)",\s*"(.*)"\s*\)/).map { (String($0.1), String($0.2)) }
            + rows.matches(of: /Journal: [0-7] (\w+) (\w+)/).map { (String($0.1), String($0.2)) }
    }

    @Test("every id has one entry under its name, and every entry an id")
    func agreement() {
        let lines = catalog.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let entries = lines.indices.filter { lines[$0].hasPrefix("-- ") }.map { (lines[$0 - 1], lines[$0]) }
        #expect(
            entries.map { "\($0.0)\n\($0.1)" }.sorted() == ids.map { "# \($0.name)\n-- \($0.text)" }.sorted()
        )
        #expect(Set(ids.map(\.text)).count == ids.count && ids.contains { $0.text == MessageID.started.text })
    }

    @Test("every id is 128 bits in lower-case hexadecimal")
    func digits() {
        for id in ids.map(\.text) {
            #expect(id.count == 32)
            #expect(id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        }
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
