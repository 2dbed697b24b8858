import RelayBase
import RelayInterface
import RelayJSON
import RelayJobs
import Testing

@testable import waystation

@Suite("explain tells what every word of the interface means")
struct GlossaryTests {
    private static func names(_ kind: Word.Kind) -> [String] { Glossary.words(kind).map(\.name) }

    @Test("Every kind of failure of the relay's own, and every end of a job, has one row, in order")
    func rows() {
        #expect(Self.names(.failure) == FailureKind.known.map(\.rawValue))
        #expect(Self.names(.end) == EndReason.known.map(\.rawValue))
    }

    @Test("Every kind of word has words, and each of them once", arguments: Word.Kind.allCases)
    func once(kind: Word.Kind) {
        let names = Self.names(kind)
        #expect(names.isEmpty == (kind == .key) && Set(names).count == names.count)
    }

    @Test("Every word has a sentence and a remedy, and no sentence begins with a relative")
    func sentences() {
        for word in Glossary.words {
            #expect(!word.text.isEmpty && !word.remedy.isEmpty, "\(word.name)")
            for text in [word.text, word.causes ?? "", word.remedy] {
                for sentence in text.split(separator: ". ") {
                    let first = sentence.prefix { $0.isLetter }
                    #expect(!["What", "Who", "Whoever", "Whatever"].contains(first), "\(sentence)")
                }
            }
        }
    }

    @Test("Every command that a word names is one of the program, and every action one of jobs")
    func commands() {
        var count = 0
        for word in Glossary.words {
            for text in [word.text, word.causes ?? "", word.remedy] {
                for named in text.split(separator: "waystation ", omittingEmptySubsequences: false)
                    .dropFirst()
                {
                    let words = named.split { !$0.isLetter && $0 != "-" }.map(String.init)
                    count += 1
                    #expect(Command.named(words[0]) != nil, "\(word.name): waystation \(named)")
                    guard words[0] == "jobs", !["watch", "--route"].contains(words[1]) else { continue }
                    #expect(JobActionWord(rawValue: words[1]) != nil, "\(word.name): waystation \(named)")
                }
            }
        }
        #expect(count > 40)
    }

    @Test("A job that is over is advised the commands of its end, as explain of the end tells them")
    func ends() throws {
        for word in Word.all(.end) {
            let job = """
                {"id":"J","state":"dead","end":"\(word.name)","status":500,"durable":true,
                 "links":{"request_body":"/v1/jobs/J/request/body"}}
                """
            let text = JobStory(try JSONValue(parsing: Array(job.utf8)), Moments(now: 0, isUTC: true))
                .text(for: .standard)
            for clause in word.commands {
                #expect(text.contains(clause.replacing("JOB", with: "J")), "\(text)")
            }
            #expect(text.split(separator: "waystation logs J").count == 2)
        }
    }

    @Test("A job that waits is advised the commands of its reason, as explain of the reason tells them")
    func reasons() throws {
        for word in Word.all(.reason) {
            let job = """
                {"id":"J","route":"r","state":"queued","durable":true,"blocker":{"reason":"\(word.name)"}}
                """
            let text = JobStory(try JSONValue(parsing: Array(job.utf8)), Moments(now: 0, isUTC: true))
                .text(for: .standard)
            #expect(!word.commands.isEmpty, "\(word.name)")
            for clause in word.commands {
                let filled = clause.replacing("JOB", with: "J").replacing("ROUTE", with: "r")
                #expect(text.contains(filled), "\(text)")
            }
            #expect(text.split(separator: "waystation logs J").count == 2)
        }
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
        #expect(Glossary.meanings(of: word).map(\.kind.rawValue) == kinds)
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
        let meanings = Glossary.meanings(of: name)
        #expect(meanings.contains { $0.name == path && $0.kind == .key }, "\(meanings)")
    }

    @Test("Every key that a meaning names is a key")
    func namedKeys() {
        let texts = Glossary.words.flatMap { [$0.text, $0.causes ?? "", $0.remedy] }
        let words = Set(
            texts.flatMap { $0.split { " ;,:()".contains($0) } }.map { $0.last == "." ? $0.dropLast() : $0 }
        )
        let named = words.filter { word in
            ["timeouts.", "limits.", "storage.", "delivery.", "concurrency.", "success."].contains {
                word.hasPrefix($0)
            }
        }
        #expect(named.count > 8)
        for name in named { #expect(!Glossary.keys(String(name)).isEmpty, "\(name)") }
    }

    @Test(
        "A word that is nearly one is told which",
        arguments: [
            ("storge_full", "storage_full"), ("ded", "dead"), ("timeouts.atempt", "timeouts.attempt"),
        ]
    )
    func nearest(word: String, meant: String) {
        #expect(Glossary.nearest(to: word) == meant)
    }

    @Test("It is printed in lines that fit a terminal")
    func page() {
        #expect(
            Glossary.meanings(of: "queue_full").map(\.page) == [
                """
                queue_full: problem code, status 503
                  The job queue is full.
                  Causes: limits.max_queued_jobs is reached, or by one user its
                  limits.per_user.max_queued_jobs; an upstream is down, or slower than its
                  callers.
                  Do: See waystation shape for what waits; mend that upstream, cancel jobs, or
                  raise the limit.

                """
            ]
        )
        for meaning in Glossary.words {
            #expect(meaning.page.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }
}
