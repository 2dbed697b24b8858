import RelayJSON
import RelayTestSupport
import Testing

@Suite("Generated JSON")
struct GeneratedTests {
    @Test("A pointer finds in the text what it finds in the tree", arguments: UInt64(0)..<200)
    func locateAgreesWithTree(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let value = makeValue(depth: 5, &random)
        let text = Bool.random(using: &random) ? value.encoded() : value.encodedPretty()
        #expect(try JSONValue(parsing: text) == value)
        #expect(try JSONDocument(parsing: text).root.value == value)
        let pointers = (0..<40).map { _ in makePointer(into: value, &random) }
        let together = try JSONScan.locate(pointers, in: text.span)
        for (pointer, range) in zip(pointers, together) {
            #expect(try JSONScan.locate([pointer], in: text.span)[0] == range)
            let located = try range.map { range throws in try JSONValue(parsing: Array(text[range])) }
            #expect(located == value.value(at: pointer))
        }
    }

    @Test("A changed byte never crashes a reader, and all readers agree", arguments: UInt64(0)..<50)
    func damaged(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let text = makeValue(depth: 4, &random).encoded()
        for _ in 0..<100 {
            var damaged = text
            damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
                in: 0...255,
                using: &random
            )
            let tree = try? JSONValue(parsing: damaged)
            let located = (try? JSONScan.locate([JSONPointer(tokens: [])], in: damaged.span)[0]) ?? nil
            #expect((tree == nil) == (located == nil))
        }
    }
}

private let names = [
    "a", "b", "", "0", "1", "é", "e\u{301}", "\"", "\\", "~", "/", "\u{1}", "long name of a member",
]

private func makeName(_ random: inout SplitMix64) -> String {
    names[Int.random(in: names.indices, using: &random)]
}

func makeValue(depth: Int, _ random: inout SplitMix64) -> JSONValue {
    switch Int.random(in: 0..<(depth == 0 ? 5 : 8), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .number(JSONNumber(Int.random(in: -1000...1000, using: &random)))
    case 3:
        return .number(
            JSONNumber(
                text: ["-0", "1.5e-3", "0E0", "12345678901234567890"].randomElement(using: &random) ?? ""
            )
        )
    case 4:
        return .string(makeName(&random) + makeName(&random))
    case 5:
        let count = Int.random(in: 0..<5, using: &random)
        return .array((0..<count).map { _ in makeValue(depth: depth - 1, &random) })
    default:
        let chosen = names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        return .object(chosen.map { JSONValue.Member($0, makeValue(depth: depth - 1, &random)) })
    }
}

/// Mostly a way that exists; now and then one that leads nowhere.
private func makePointer(into value: JSONValue, _ random: inout SplitMix64) -> JSONPointer {
    var tokens: [String] = []
    var value = value
    while Int.random(in: 0..<6, using: &random) > 0 {
        if Int.random(in: 0..<8, using: &random) == 0 {
            tokens.append(makeName(&random))
        }
        switch value {
        case .array(let elements):
            guard let index = elements.indices.randomElement(using: &random) else {
                return JSONPointer(tokens: tokens)
            }
            tokens.append("\(index)")
            value = elements[index]
        case .object(let members):
            guard let member = members.randomElement(using: &random) else {
                return JSONPointer(tokens: tokens)
            }
            tokens.append(member.name)
            value = member.value
        default: return JSONPointer(tokens: tokens)
        }
    }
    return JSONPointer(tokens: tokens)
}
