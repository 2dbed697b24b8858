import RelayConfig
import RelayJSON
import Testing

@Suite("Damaged configurations")
struct MutationTests {
    @Test("Damage anywhere is reported or harmless, never a crash", .timeLimit(.minutes(5)), arguments: 0..<4)
    func damagedExample(seed: Int) throws {
        let example = packageFile("config/waystation.example.json")
        try #require(!example.isEmpty)
        var random = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        let next = { (bound: Int) -> Int in
            // Marsaglia's xorshift: the same seed gives the same damage.
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return Int(random % UInt64(bound))
        }
        let pieces = [
            "\"", "{", "}", "[", "]", ",", ":", "null", "-1", "1e999", "\"\"", "true", "\u{0}", "\\u0000",
            "é",
        ]
        for _ in 0..<60 {
            var damaged = example
            for _ in 0...next(3) {
                let start = next(damaged.count)
                let end = min(damaged.count, start + next(12))
                damaged.replaceSubrange(start..<end, with: pieces[next(pieces.count)].utf8)
            }
            let result = ConfigurationReader.read(
                damaged,
                file: "x",
                accounts: testAccounts,
                wallSeconds: testSeconds
            )
            #expect((result.configuration == nil) == result.diagnostics.contains { $0.severity == .error })
            #expect((try? JSONScan.validate(Diagnostic.json(result.diagnostics).span)) != nil)
            _ = Diagnostic.render(result.diagnostics)
        }
    }

    @Test("Every value of the example replaced by another type is reported at its place")
    func wrongTypes() throws {
        let example = packageFile("config/waystation.example.json")
        let document = try JSONDocument(parsing: example)
        for (pointer, node) in leaves(of: document.root, []) {
            if pointer.contains("json") || pointer.contains("equals") || pointer.contains("in") { continue }
            if pointer == ["$schema"] { continue }
            var changed = example
            changed.replaceSubrange(node.range, with: "[null]".utf8)
            let result = ConfigurationReader.read(
                changed,
                file: "x",
                accounts: testAccounts,
                wallSeconds: testSeconds
            )
            let start = document.source.position(of: node.range.lowerBound)
            #expect(
                result.diagnostics.contains { $0.position.line == start.line && $0.severity == .error },
                "/\(pointer.joined(separator: "/"))"
            )
        }
    }

    private func leaves(of node: JSONNode, _ path: [String]) -> [([String], JSONNode)] {
        switch node.content {
        case .object(let members): members.flatMap { leaves(of: $0.value, path + [$0.name]) }
        case .array(let elements):
            elements.enumerated().flatMap { leaves(of: $0.element, path + ["\($0.offset)"]) }
        default: [(path, node)]
        }
    }
}
