import Glibc
import RelayBase
import RelayInterface
import RelayJobs
import Testing

@testable import waystation

@Suite("Completion of the command line")
struct CompletionTests {
    @Test(
        "a word is offered only where every shell takes it for itself, wherever it stands",
        arguments: [
            ("order=8841", true), ("alpha", true), ("beta.2/u1", true), ("01K9ZQ3V7N4T0C8R5B2M6XW1HD", true),
            ("url=http://x/y:1@z", true), ("a,b+c", true), ("_a", true), ("/x", true), ("", false),
            ("-a", false), ("--a=b", false), ("=a", false), (":a", false), ("@a", false), ("+1", false),
            (".", false), ("~", false), ("%1", false), ("a b", false), ("a\tb", false), ("a\nb", false),
            ("a\u{1B}[2J", false), ("$(id)", false), ("a$b", false), ("`id`", false), ("a'b", false),
            ("a\"b", false), ("a\\b", false), ("a;b", false), ("a&b", false), ("a|b", false), ("a<b", false),
            ("a>b", false), ("a*", false), ("a?", false), ("a[b]", false), ("a{b,c}", false), ("a!b", false),
            ("a#b", false), ("a^b", false), ("a~b", false), ("a%b", false), ("ü", false),
            ("a\u{202E}", false),
            (String(repeating: "a", count: 257), false),
        ]
    )
    func harmless(word: String, isHarmless: Bool) { #expect(Candidates.isHarmless(word) == isHarmless) }

    @Test("the types of events that are offered are those that the daemon tells of jobs and routes")
    func eventTypes() {
        let types = EventKind.asked.map(\.rawValue.name)
        #expect(types.contains("job.dead") && types.contains("storage.resumed"))
        #expect(!types.contains("gap") && !types.contains("heartbeat"))
    }

    @Test("every word that the scripts hold is such a word")
    func scripts() {
        for command in CompletedCommand.all {
            for completes in command.options.map(\.completes) + command.operands.map(\.completes) {
                if case .words(let words) = completes {
                    #expect(
                        !words.isEmpty && words.allSatisfy(Candidates.isHarmless),
                        "\(command.name): \(words)"
                    )
                }
            }
        }
    }

    @Test(
        "what stands for a value in the help text says what completes it",
        arguments: [
            ("table|json", Completes.words(["table", "json"])), ("N|all", .words(["all"])), ("FILE|-", .file),
            ("route|state|failure_kind", .words(["route", "state", "failure_kind"])), ("PATH", .file),
            ("DATA|@FILE|-", .nothing), ("DURATION", .nothing), ("0-7", .nothing), ("SPAN|TIME", .nothing),
        ]
    )
    func placeholder(text: String, completes: Completes) {
        #expect(Completes(placeholder: text) == completes)
    }

    @Test("who may not ask the daemon has the routes of a configuration that anybody may read")
    func configuration() {
        let text = """
            {"routes": {"$comment": "x", "a": {"upstreams": [{"name": "u", "url": "https://x/"}, {"url": 1}]}, "b": 1}}
            """
        let routes = Candidates.routes(inConfiguration: Array(text.utf8))
        #expect(routes.map(\.name) == ["a", "b"] && routes.map(\.upstreams) == [["u"], []])
        for text in ["", "{", "[]", #"{"routes": []}"#, #"{"routes": 1}"#] {
            #expect(Candidates.routes(inConfiguration: Array(text.utf8)).isEmpty)
        }
    }

    @Test("a socket that systemd may listen on is asked only while the daemon runs")
    func sleeping() throws {
        var folder = Array("/tmp/completion-tests-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&folder) != nil)
        let path = String(decoding: folder.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            for name in ["link", "socket"] { unsafe _ = unlink("\(path)/\(name)") }
            unsafe _ = rmdir(path)
        }
        #expect(unsafe symlink("x", "\(path)/link") == 0)
        // "/" is root's, as a socket of systemd's; what is made here is another's where another runs the tests.
        func asks(_ socket: String, system: Bool, runs: Bool) -> Bool {
            SleepingDaemon(
                system: system ? path : "\(path)/none",
                running: runs ? "\(path)/link" : "\(path)/none"
            )
            .mayBeAsked(at: socket)
        }
        #expect(!asks("/", system: true, runs: false))
        #expect(asks("/", system: true, runs: true))
        #expect(asks("/", system: false, runs: false))
        #expect(!asks("\(path)/none", system: false, runs: true), "there is nothing to ask")
        let socket = unsafe open("\(path)/socket", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        defer { close(socket) }
        #expect(socket >= 0)
        if geteuid() == 0 { #expect(fchown(socket, 65_534, 65_534) == 0) }
        #expect(asks("\(path)/socket", system: true, runs: false))
    }
}
