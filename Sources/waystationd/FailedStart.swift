import Glibc
import RelayConfig
import RelayCore
import RelayEngine
import RelayPosix
import RelayServer
import RelaySystemd

/// Why there is no daemon: tells the journal or the terminal, the service manager and the callers, and ends.
struct FailedStart {
    /// Kept from interrupting a daemon, and let through again by a start that has failed.
    static let signals = [SIGHUP, SIGTERM, SIGINT]

    private let sockets: [ActivatedSockets.Listener]
    private let file: String?
    /// What the configuration was before it was read.
    private let version: Version?

    /// What changes with every change of a file.
    private struct Version: Equatable {
        let inode: ino_t
        let size: off_t
        let changed: Int64

        init?(_ path: String) {
            var facts = stat()
            guard unsafe stat(path, &facts) == 0 else { return nil }
            inode = facts.st_ino
            size = facts.st_size
            changed = Int64(facts.st_ctim.tv_sec) * 1_000_000_000 + Int64(facts.st_ctim.tv_nsec)
        }
    }

    /// - Parameters:
    ///   - sockets: the service manager's, which hold the callers.
    ///   - file: the configuration, not read yet; nil where it is not what can be at fault.
    init(sockets: [ActivatedSockets.Listener], file: String?) {
        self.sockets = sockets
        self.file = file
        version = file.flatMap { Version($0) }
    }

    /// The configuration was refused.
    func end(_ rejected: ConfigurationRejected) -> Never {
        let sink = JournalSink.detected()
        if sink == .plainLines || sink == .colouredLines {
            // Where people read: the text of `--check`.
            Output.error(rejected.text)
        } else {
            // One for each finding, so that each begins like the others.
            for (severity, text) in rejected.texts {
                var record = JournalRecord(
                    severity == .error ? .error : .warning,
                    .configRejected,
                    text.trimmedEnd
                )
                record.add(.configFile, file)
                sink.write(record)
            }
        }
        tellManager(rejected.summary)
        refuseCallers("its configuration is not valid: \(rejected.summary)")
        exit(78)
    }

    /// Something else was in the way.
    func end(_ code: Int32, _ message: String, _ sink: JournalSink = .detected()) -> Never {
        sink.write(JournalRecord(.error, nil, message))
        tellManager(message)
        exit(code)
    }

    private func tellManager(_ status: String) {
        let notifier = ServiceNotifier()
        notifier.send(.failed(status: status))
        notifier.flush()
    }

    /// Answers who waits at the service manager's sockets, for a start that systemd does not repeat by itself.
    func refuseCallers(_ reason: String) {
        guard !sockets.isEmpty else { return }
        SignalWatcher.unblock(Self.signals)
        let problem = Problem(.notStarted, "the relay could not start: \(reason)", retryAfter: .seconds(5))
        let body = problem.body
        let head = """
            HTTP/1.1 \(problem.status.rawValue) Service Unavailable\r
            Content-Type: application/problem+json\r
            Waystation-Source: relay\r
            Retry-After: 5\r
            Content-Length: \(body.count)\r
            Connection: close\r
            \r

            """
        var refused = RefusedStart(sockets, answer: Array(head.utf8) + body) {
            file.map { Version($0) != version } ?? false
        }
        refused.serve()
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last == "\n" { text.removeLast() }
        return text
    }
}
