import Glibc
import RelayBase
import RelayClient
import RelayInterface
import RelayJSON
import RelayPosix

/// `waystation __complete KIND[,KIND] [SOCKET]`: what the shells' completions ask, a candidate a line, and behind a tab
/// what there is to say of it.
///
/// Says nothing where it knows nothing, and ends with 0, in less than 200 milliseconds with the start of the program:
/// somebody has pressed a key and waits.
struct Candidates {
    static let command = "__complete"

    /// Milliseconds for all that a daemon is asked.
    private static let timeout = 100
    /// Milliseconds after which the program ends wherever it is, in a file that is slow to read for one.
    private static let limit = 130

    private let sockets: DaemonSockets
    /// Of everything that is asked.
    private let deadline = SystemClock.monotonic() + Int64(timeout) * 1_000_000

    static func run(_ words: [String]) -> ExitCode {
        startClock()
        let kinds = (words.first ?? "").split(separator: ",").compactMap {
            CandidateKind(rawValue: String($0))
        }
        let options = words.dropFirst().first.map { ["--socket", $0] } ?? []
        guard let arguments = try? Arguments(options, of: command, options: [.control]) else { return .done }
        let candidates = Candidates(sockets: DaemonSockets(arguments))
        // A daemon that hangs may take all the time there is: what is known without it goes first.
        for kind in kinds.filter({ $0 == .words }) + kinds.filter({ $0 != .words }) {
            var lines = ""
            for (word, remark) in candidates.found(kind) where isHarmless(word) {
                lines += word + (isHarmless(remark) ? "\t\(remark)" : "") + "\n"
            }
            // Also where nobody takes it, nobody wants to read of that.
            _ = writeAll(Array(lines.utf8), to: STDOUT_FILENO)
        }
        return .done
    }

    /// No call that waits has to know of it.
    private static func startClock() {
        signal(SIGALRM) { _ in _exit(0) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGALRM)
        unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
        var timer = itimerval()
        timer.it_value.tv_usec = limit * 1000
        unsafe setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
    }

    /// Whether a word means itself to every shell, wherever it stands: what others have put into a label is refused
    /// rather than quoted, which each shell wants otherwise.
    static func isHarmless(_ word: String) -> Bool {
        // At its beginning some of the others are an option's or a shell's own.
        guard let first = word.unicodeScalars.first, word.utf8.count <= 256 else { return false }
        return isPlainWord(word)
            && (first.properties.isAlphabetic || first.properties.numericType != nil
                || "/_".contains(Character(first)))
    }

    private func found(_ kind: CandidateKind) -> [(word: String, remark: String)] {
        switch kind {
        case .words: return Glossary.words.map { ($0.name, "") }
        case .routes, .upstreams:
            return routes.flatMap { name, upstreams in
                [(name, "")] + (kind == .upstreams ? upstreams.map { ("\(name)/\($0)", "") } : [])
            }
        case .jobs:
            return jobs(100).map { ($0.id, "\($0.state)/\($0.route)") }
        case .labels:
            let labels = jobs(500).flatMap(\.job.labels)
            return Set(labels).sorted().map { ($0, "") }
        }
    }

    private func jobs(_ count: Int) -> [JobDocument] {
        let document = answer("/v1/jobs?limit=\(count)", at: sockets.reading().path)
        return (document?["jobs"]?.elements ?? []).map(JobDocument.init)
    }

    /// As the daemon tells, or as the configuration does to who may not ask it.
    private var routes: [(name: String, upstreams: [String])] {
        if let routes = answer("/v1/routes", at: sockets.control)?["routes"] {
            return routes.elements.map { route in
                (
                    route["name"]?.text ?? "",
                    (route["upstreams"]?.elements ?? []).compactMap { $0["name"]?.text }
                )
            }
        }
        guard sockets.control == DaemonSockets.usualControl,
            let bytes = try? FileBytes.read(path: InitialSteps.usualFile)
        else { return [] }
        return Candidates.routes(inConfiguration: bytes)
    }

    static func routes(inConfiguration bytes: [UInt8]) -> [(name: String, upstreams: [String])] {
        guard case .object(let routes)? = (try? JSONValue(parsing: bytes))?["routes"] else { return [] }
        return routes.filter { $0.name != "$comment" }.map { route in
            (route.name, (route.value["upstreams"]?.elements ?? []).compactMap { $0["name"]?.text })
        }
    }

    private func answer(_ target: String, at path: String) -> JSONValue? {
        let left = deadline - SystemClock.monotonic()
        guard left > 0, SleepingDaemon().mayBeAsked(at: path) else { return nil }
        var client = RelayClient(socketPath: path)
        client.timeout = .nanoseconds(left)
        return try? DaemonAccess(client).document(.get, target).1
    }
}

/// Tells whether a connection would wake a daemon.
///
/// Where systemd listens in place of a daemon that does not run, any connection starts it, also one of which nothing is
/// asked. A socket's listener cannot be seen before a connection is made; but a socket that systemd made is root's,
/// and for every unit that runs systemd keeps a link in /run/systemd/units, from which the journal takes the unit's
/// invocation.
struct SleepingDaemon {
    /// There where systemd runs the machine; sd_booted(3).
    var system = "/run/systemd/system"
    var running = "/run/systemd/units/invocation:waystationd.service"

    func mayBeAsked(at path: String) -> Bool {
        var socket = stat()
        guard unsafe stat(path, &socket) == 0 else { return false }
        guard socket.st_uid == 0, unsafe access(system, F_OK) == 0 else { return true }
        var link = stat()
        return unsafe lstat(running, &link) == 0
    }
}
