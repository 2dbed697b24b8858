import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
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
            "waystationd/Status/StatusReport.swift", "RelayServer/API/Routes/RouteView.swift",
            "RelayServer/Documents/RouteState+Document.swift", "RelayServer/Stream/StreamOutcome.swift",
        ]
    )
    func written(path: String) throws {
        let text = Self.source(path)
        try #require(!text.isEmpty)
        for word in Self.values(
            of: ["state", "reason", "end", "outcome", "source", "next", "sent"],
            in: text
        ) {
            #expect(!Glossary.meanings(of: word).isEmpty, "\(word) of \(path)")
        }
    }

    @Test("How a request came out", arguments: OutcomeWord.allCases)
    func outcomes(word: OutcomeWord) { #expect(!Glossary.meanings(of: word.rawValue).isEmpty) }

    @Test("The collector finds words, so that it can miss some")
    func control() {
        let text =
            #"json.member("state", isPaused ? "paused" : other)\njson.member("name", "x_y"); f.member("end", end)"#
        #expect(Self.values(of: ["state", "end"], in: text) == ["paused"])
    }

    /// The literals that members of these names are given.
    private static func values(of names: Set<String>, in text: String) -> [String] {
        text.split(separator: "member(").dropFirst().flatMap { call -> [String] in
            var depth = 1
            let body = call.prefix { character in
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                return depth > 0
            }
            let found = literals(in: String(body))
            return found.first.map(names.contains) == true ? Array(found.dropFirst()) : []
        }
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
