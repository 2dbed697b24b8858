import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
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

    @Test(
        "Words of enumerations",
        arguments: [
            ("state of a job", JobState.allCases.map(\.name)),
            ("reason of a wait", WaitReason.allCases.map(\.name)),
            ("end of a job", EndReason.known.map(\.rawValue)),
            ("failure kind", FailureKind.known.map(\.rawValue)),
            ("group of failure kinds", FailureGroup.allCases.map(\.rawValue)),
            ("problem code", Problem.Code.allCases.map(\.rawValue)),
            ("role of a listener", Role.allCases.map(\.rawValue)),
            ("action on jobs", JobAction.allCases.map(\.rawValue)),
            ("event", JobEvent.Kind.allCases.map(\.rawValue)),
            ("source of an answer", StandIn.allCases.map(\.rawValue)),
            ("state of a route", RouteCondition.allCases.map(\.rawValue)),
            ("action of a rule", Attempt.Next.Word.allCases.map(\.rawValue)),
            ("state of a credential", CredentialVault.State.Word.allCases.map(\.rawValue)),
            ("fault of a message", HTTPParseError.Code.allCases.map(\.rawValue)),
        ]
    )
    func enumerations(kind: String, words: [String]) {
        for word in words {
            #expect(Meaning.of(word).contains { $0.kind.rawValue == kind }, "\(word), \(kind)")
        }
    }

    @Test(
        "Words that the documents of the interface are given where they are written",
        arguments: [
            "waystationd/StatusReport.swift", "RelayServer/API/Routes/RouteView.swift",
            "RelayServer/Documents/RouteState+Document.swift", "RelayServer/Documents/JobDocument.swift",
            "RelayServer/Documents/DurableDocument.swift", "RelayServer/Stream/StreamOutcome.swift",
        ]
    )
    func written(path: String) throws {
        let text = Self.source(path)
        try #require(!text.isEmpty)
        for word in Self.values(
            of: ["state", "reason", "end", "outcome", "source", "next", "sent"],
            in: text
        ) {
            #expect(!Meaning.of(word).isEmpty, "\(word) of \(path)")
        }
    }

    @Test(
        "Words of states that the documents are given from their tables",
        arguments: DaemonState.allCases.map(\.rawValue) + StorageState.allCases.map(\.rawValue)
            + [RouteState.paused, RouteState.unconfigured]
    )
    func states(word: String) { #expect(!Meaning.of(word).isEmpty) }

    @Test("How a request came out", arguments: OutcomeWord.allCases)
    func outcomes(word: OutcomeWord) { #expect(!Meaning.of(word.rawValue).isEmpty) }

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
