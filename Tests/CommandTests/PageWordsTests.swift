import Glibc
import RelayJSON
import Testing

@testable import waystation

/// `RELAY_REGENERATE=1 swift test --filter PageWordsTests` writes the file anew.
@Suite("The page tells what words mean as explain does")
struct PageWordsTests {
    private static let path: String = {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "\(root)/Sources/CPage/words.json"
    }()

    /// Those that stand on the page, by the names it has for them.
    private static let kinds: KeyValuePairs<String, Meaning.Kind> = [
        "state": .state, "reason": .reason, "end": .end, "failure": .failure,
        "route": .routeState, "daemon": .daemonState, "store": .storeState, "credential": .credentialState,
        "job_action": .jobAction, "event": .event,
    ]

    /// A line for each word, so that a change of one is a change of one.
    ///
    /// A word has its text and, where the page tells it, what to do; of reasons and events the names alone.
    private static var document: String {
        let kinds = kinds.map { name, kind in
            let meanings = Meaning.all.filter {
                $0.kind == kind && !($0.kind == .jobAction && $0.word == "expunge")
            }
            if kind == .event || kind == .reason {
                return "\"\(name)\":[\n\(meanings.map { "\"\($0.word)\"" }.joined(separator: ",\n"))\n]"
            }
            let words = meanings.map { meaning in
                var json = JSONArrayWriter()
                json.element(meaning.text)
                if tellsRemedy(of: meaning) { json.element(meaning.remedy) }
                return "\"\(meaning.word)\":" + String(decoding: json.bytes, as: UTF8.self)
            }
            return "\"\(name)\":{\n\(words.joined(separator: ",\n"))\n}"
        }
        return "{\n\(kinds.joined(separator: ",\n"))\n}\n"
    }

    /// A job's page has the commands that help; an overview says what to do of jobs that are only to be looked at.
    private static func tellsRemedy(of meaning: Meaning) -> Bool {
        switch meaning.kind {
        case .jobAction, .end: false
        case .state: ["dead", "held", "retrying"].contains(meaning.word)
        default: meaning.remedy != "Nothing is to be done."
        }
    }

    @Test("The file is what the command's own words make it")
    func current() throws {
        let document = Self.document
        _ = try JSONValue(parsing: Array(document.utf8))
        if environment("RELAY_REGENERATE") != nil {
            let descriptor = unsafe open(Self.path, O_WRONLY | O_TRUNC | O_CREAT, 0o644)
            #expect(writeAll(Array(document.utf8), to: descriptor))
            close(descriptor)
        }
        let file = String(decoding: try FileBytes.read(path: Self.path), as: UTF8.self)
        #expect(
            file == document,
            "Sources/CPage/words.json is old; RELAY_REGENERATE=1 swift test --filter PageWordsTests writes it"
        )
    }
}
