import Testing

@Suite("Every file and room that the pages for contributors name is there")
struct ContributingTests {
    private static let text = TidyTests.text(".github/contributing.md")

    @Test("Every file and every script")
    func files() {
        let all = Set(["Sources", "Tests", "config", "deploy"].flatMap(TidyTests.files))
        let named = Self.text.split { " `()\n".contains($0) }.map {
            $0.hasPrefix("./") ? $0.dropFirst(2) : $0
        }
        .map { $0.last.map { ",.:;".contains($0) } == true ? $0.dropLast() : $0 }
        .filter { ["Sources/", "Tests/", "config/", "deploy/"].contains(where: $0.hasPrefix) }
        #expect(named.count > 40)
        let gone = named.filter { name in
            !all.contains(String(name)) && !all.contains { $0.hasPrefix("\(name)/") }
        }
        #expect(gone == [])
    }

    @Test("Every room, with what it is")
    func rooms() {
        let rooms = Set(
            TidyTests.files("Sources").filter { $0.hasSuffix(".swift") }.map { $0.split(separator: "/")[1] }
        )
        let told = Self.text.split(separator: "\n").filter { $0.hasPrefix("| ") }
            .flatMap { $0.split(separator: "|")[0].split { ", ".contains($0) } }
        #expect(rooms.subtracting(told) == [])
    }

    @Test("No package of others is depended on")
    func dependencies() {
        #expect(!TidyTests.text("Package.swift").contains(".package("))
    }

    @Test("The changelog begins with the version that the programs tell")
    func version() {
        let file = TidyTests.files("Sources").first { $0.hasSuffix("/Version.swift") } ?? ""
        let lines = TidyTests.text(file).split(separator: "\n")
        let line = lines.first { $0.contains("static let text = ") } ?? ""
        let version = line.split(separator: "\"").dropFirst().first ?? "?"
        let titles = TidyTests.text(".github/CHANGELOG.md").split(separator: "\n").filter {
            $0.hasPrefix("## ")
        }
        #expect(titles.first?.hasPrefix("## [\(version)]") == true)
    }
}
