import Testing

@Suite("Decisions can be cited")
struct DecisionsTests {
    private static let pages = TidyTests.files("Sources/RelayCore/RelayCore.docc/Decisions").filter {
        !$0.hasSuffix("/Decisions.md")
    }

    @Test("Each has a number of its own, in one sequence over all pages, and on a page they ascend")
    func numbers() {
        let numbers = Self.pages.map { page in
            TidyTests.text(page).split(separator: "\n").filter { $0.hasPrefix("## ") }
                .map { Int($0.dropFirst(3).prefix { $0 != "." }) ?? 0 }
        }
        for (page, numbers) in zip(Self.pages, numbers) { #expect(numbers == numbers.sorted(), "\(page)") }
        let all = numbers.joined().sorted()
        #expect(all.count > 100)
        #expect(all == Array(1..<all.count + 1), "the highest is \(all.last ?? 0)")
    }

    @Test("Each begins with its date")
    func dates() {
        for page in Self.pages {
            let lines = TidyTests.text(page).split(separator: "\n")
            for (title, text) in zip(lines, lines.dropFirst()) where title.hasPrefix("## ") {
                #expect(text.prefixMatch(of: /20\d\d-\d\d-\d\d[.,]/) != nil, "\(page): \(title)")
            }
        }
    }

    @Test("The first page lists all others")
    func list() {
        let first = TidyTests.text("Sources/RelayCore/RelayCore.docc/Decisions/Decisions.md")
        for page in Self.pages {
            let name = page.split(separator: "/").last?.dropLast(3) ?? ""
            #expect(first.contains("<doc:\(name)>"), "\(page)")
        }
    }
}
