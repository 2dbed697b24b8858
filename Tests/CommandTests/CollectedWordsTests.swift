import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute
import Testing

@testable import RelayServer
@testable import waystation

@Suite("Every word that an output has, explain knows")
struct CollectedWordsTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    private static func source(_ path: String) -> String {
        let bytes = (try? FileBytes.read(path: "\(root)/Sources/\(path)")) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Every state of the daemon and of its store has a row, and so have those of a route")
    func states() {
        #expect(Word.all(.daemonState).map(\.name) == DaemonState.allCases.map(\.rawValue))
        #expect(Word.all(.storeState).map(\.name) == StorageState.allCases.map(\.rawValue))
        let routes = Word.all(.routeState).map(\.name)
        #expect(routes.contains(RouteState.paused) && routes.contains(RouteState.unconfigured))
    }

    @Test(
        "Words that the documents of the interface are given where they are written",
        arguments: [
            "RelayServer/Documents/StatusReport.swift", "RelayServer/Documents/RouteSituation.swift",
            "RelayServer/Documents/RouteSituation+Members.swift", "RelayServer/Documents/ListedOutcome.swift",
        ]
    )
    func written(path: String) throws {
        let text = Self.source(path)
        try #require(!text.isEmpty)
        for word in Self.values(in: text) {
            #expect(!Glossary.meanings(of: word).isEmpty, "\(word) of \(path)")
        }
    }

    @Test("The states of a breaker have a row each")
    func breakers() {
        #expect(Word.all(.breaker).map(\.name) == RouteStanding.Breaker.allCases.map(\.rawValue))
    }

    /// Words of the interface that mean what they say.
    private static let plain: Set<String> = [
        "error", "warning", "application/json", "1.0", "live", "ready", "reloaded", "async", "daemon",
        "store",
        "waystationd", "auto", "route", "state", "failure_kind", "send", "wait", "refuse",
    ]

    @Test("Every word that a document of the interface may have")
    func documents() throws {
        let file = try FileBytes.read(path: "\(Self.root)/config/waystation.openapi.json")
        let schemas = try #require(try JSONValue(parsing: file)["components"]?["schemas"])
        let words = Self.choices(schemas)
        #expect(words.count > 150 && words.isSuperset(of: ["unclear", "would_be_open", "too_many"]))
        for word in words.subtracting(Self.plain).sorted() {
            #expect(!Glossary.meanings(of: word).isEmpty, "\(word)")
        }
        #expect(Glossary.meanings(of: "would_be_opened").isEmpty, "a word that none is would be missed")
    }

    /// The words of all lists of words in a schema.
    private static func choices(_ schema: JSONValue) -> Set<String> {
        switch schema {
        case .array(let elements): return elements.reduce(into: []) { $0.formUnion(choices($1)) }
        case .object(let members):
            return members.reduce(into: []) { words, member in
                if member.name == "enum" || member.name == "const" {
                    words.formUnion((member.value.elements + [member.value]).compactMap(\.text))
                } else {
                    words.formUnion(choices(member.value))
                }
            }
        default: return []
        }
    }

    @Test("How a request came out", arguments: OutcomeWord.allCases)
    func outcomes(word: OutcomeWord) { #expect(!Glossary.meanings(of: word.rawValue).isEmpty) }

    @Test("The collector finds words, so that it can miss some")
    func control() {
        let text = #".required("state", .word(["paused", "gone"]), "A text.") { $0.state }"#
        #expect(Self.values(in: text) == ["paused", "gone"])
    }

    /// The words that stand in the lists of words of members.
    private static func values(in text: String) -> [String] {
        text.split(separator: ".word([").dropFirst().flatMap { literals(in: String($0.prefix { $0 != "]" })) }
    }

    /// The texts between two quotation marks that look like words.
    private static func literals(in text: String) -> [String] {
        text.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter {
            $0.offset % 2 == 1
        }
        .map { String($0.element) }
        .filter { word in !word.isEmpty && word.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) } }
    }
}
