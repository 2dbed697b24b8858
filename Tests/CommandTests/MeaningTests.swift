import RelayBase
import RelayEngine
import RelayJobs
import RelayServer
import Testing

@testable import waystation

@Suite("explain tells what every word of the interface means")
struct MeaningTests {
    private static let page: String = {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let bytes = (try? FileBytes.read(path: "\(root)/deploy/man/waystationd-api.7")) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }()

    private static func words(_ kind: Meaning.Kind) -> [String] {
        Meaning.all.filter { $0.kind == kind }.map(\.word)
    }

    @Test("Every problem code once, with its status")
    func problems() {
        let told = Meaning.all.filter { $0.kind == .problem }
        #expect(
            told.map { "\($0.word) \($0.status ?? 0)" }.sorted()
                == Problem.Code.allCases.map { "\($0.rawValue) \($0.status.rawValue)" }.sorted()
        )
    }

    @Test("Every kind of failure, state, reason and end once")
    func jobs() {
        #expect(Self.words(.failure).sorted() == FailureKind.known.map(\.rawValue).sorted())
        #expect(Self.words(.state) == JobState.allCases.map(\.name))
        #expect(Self.words(.reason) == WaitReason.allCases.map(\.name) + ["due", "route_removed"])
        #expect(Self.words(.end) == EndReason.known.map(\.rawValue))
        #expect(Self.words(.sent) == [Sent.neverSent, .unknown, .refused, .answered].map(\.rawValue))
    }

    /// Those that another page has: waystation.json(5), the section on events, the parser.
    private static let elsewhere: Set<Meaning.Kind> = [.group, .event, .fault]

    @Test("In the words of the manual", arguments: Meaning.all.indices)
    func manual(index: Int) throws {
        let meaning = Meaning.all[index]
        guard !Self.elsewhere.contains(meaning.kind) else { return }
        let name = ".It Cm \(meaning.word)\(meaning.status.map { " Pq \($0)" } ?? "")\n"
        let entries = Self.page.split(separator: name).dropFirst().map { entry in
            entry.split(separator: "\n").prefix { !$0.hasPrefix(".") }.joined(separator: " ")
        }
        let causes = meaning.causes.map { " Causes: \($0)" } ?? ""
        #expect(entries.contains("\(meaning.text)\(causes) Do: \(meaning.remedy)"), "\(entries)")
    }

    @Test(
        "A word with several meanings has them all, whatever its case and hyphens",
        arguments: [
            ("rate_limited", ["problem code", "reason of a wait", "failure kind"]),
            ("waystation.job.dead", ["event"]), ("reload failed", ["state of the daemon"]),
            ("failing", ["state of a route", "state of a credential"]),
            ("dot-segment", ["fault of a message"]), ("stale-token", ["rule of the relay's own"]),
            ("Credentials-Failed", ["problem code", "failure kind"]),
            ("cancelled", ["state of a job", "end of a job", "failure kind"]),
            ("nonsense", []), ("", []),
        ]
    )
    func lookup(word: String, kinds: [String]) {
        #expect(Meaning.of(word).map(\.kind.rawValue) == kinds)
    }

    @Test(
        "A key of the configuration has what the field table says of it",
        arguments: [
            ("timeouts.attempt", "routes.*.timeouts.attempt"),
            ("limits.max_queued_jobs", "limits.max_queued_jobs"),
            ("routes.recovery", "routes.*.recovery"),
            ("delivery.expires_after", "routes.*.delivery.expires_after"),
        ]
    )
    func key(name: String, path: String) {
        let meanings = Meaning.of(name)
        #expect(meanings.contains { $0.word == path && $0.kind == .key }, "\(meanings)")
    }

    @Test("Every key that a meaning names is a key")
    func namedKeys() {
        let texts = Meaning.all.flatMap { [$0.text, $0.causes ?? "", $0.remedy] }
        let words = Set(
            texts.flatMap { $0.split { " ;,:()".contains($0) } }.map { $0.last == "." ? $0.dropLast() : $0 }
        )
        let named = words.filter { word in
            ["timeouts.", "limits.", "storage.", "delivery.", "concurrency.", "success."].contains {
                word.hasPrefix($0)
            }
        }
        #expect(named.count > 8)
        for name in named { #expect(!Meaning.keys(String(name)).isEmpty, "\(name)") }
    }

    @Test(
        "A word that is nearly one is told which",
        arguments: [("storge_full", "storage_full"), ("ded", "dead")]
    )
    func nearest(word: String, meant: String) {
        #expect(Meaning.nearest(to: word) == meant)
    }

    @Test("It is printed in lines that fit a terminal")
    func page() {
        #expect(
            Meaning.of("queue_full").map(\.page) == [
                """
                queue_full: problem code, status 503
                  As many jobs wait for their delivery as may.
                  Causes: limits.max_queued_jobs is reached, or by one user its
                  limits.per_user.max_queued_jobs; an upstream is down, or slower than its
                  callers.
                  Do: See waystation shape for what waits; mend that upstream, cancel jobs, or
                  raise the limit.

                """
            ]
        )
        for meaning in Meaning.all {
            #expect(meaning.page.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }
}
