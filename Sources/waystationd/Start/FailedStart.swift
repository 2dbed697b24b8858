import Glibc
import RelayBase
import RelayConfig
import RelayEngine
import RelayInterface
import RelayPosix
import RelayServer
import RelaySystemd

/// Why there is no daemon: tells the journal or the terminal, the service manager and the callers, and ends.
struct FailedStart {
    /// Kept from interrupting a daemon; a start that has failed looks for them while it answers callers.
    static let signals = [SIGHUP] + endings
    /// Those of them that end it.
    static let endings = [SIGTERM, SIGINT]

    private let sockets: [ActivatedSockets.Listener]
    private let file: String?
    /// The version of the configuration's file before it was read.
    private let before: FileVersions

    /// - Parameters:
    ///   - sockets: the service manager's, which hold the callers.
    ///   - file: the configuration, not read yet; nil where it is not what can be at fault.
    init(sockets: [ActivatedSockets.Listener], file: String?) {
        self.sockets = sockets
        self.file = file
        before = FileVersions(file.map { [$0] } ?? [])
    }

    /// The configuration was refused.
    func end(_ rejected: ConfigurationRejected) -> Never {
        let sink = JournalSink.detected()
        if sink == .plainLines || sink == .colouredLines {
            // Where people read: the text of `--check`.
            _ = writeAll(Array(rejected.text.utf8), to: STDERR_FILENO)
        } else {
            // One for each finding, so that each begins like the others.
            let records = rejected.texts.map { severity, text in
                var record = JournalRecord(
                    severity == .error ? .error : .warning,
                    .configRejected,
                    text.trimmedEnd
                )
                record.add(.configFile, file)
                return record
            }
            tell(records, to: sink)
        }
        tellManager(rejected.summary)
        refuseCallers("its configuration is not valid: \(rejected.summary)", until: { !before.areCurrent })
        startAnew(where: !before.areCurrent, sink)
        exit(78)
    }

    /// The job store in `directory` has to be mended by somebody.
    func end(_ refused: StartError, in directory: String, _ sink: JournalSink) -> Never {
        // Opening it has made files in it, too.
        let before = before.adding([directory, directory + "/jobs.db", directory + "/jobs.db-wal"])
        tell([JournalRecord(.critical, .storeRefused, refused.message)], to: sink)
        tellManager(refused.message)
        refuseCallers(refused.message, until: { !before.areCurrent })
        startAnew(where: !before.areCurrent, sink)
        exit(65)
    }

    /// Something else was in the way.
    func end(_ code: Int32, _ message: String, _ sink: JournalSink = .detected()) -> Never {
        tell([JournalRecord(.error, nil, message)], to: sink)
        tellManager(message)
        exit(code)
    }

    /// Begins again where somebody has changed what was at fault while callers were answered, and nobody has stopped it.
    private func startAnew(where isMended: Bool, _ sink: JournalSink) {
        guard isMended, !sockets.isEmpty, !SignalWatcher.isPending(Self.endings) else { return }
        tell(
            [
                JournalRecord(
                    .notice,
                    nil,
                    "the start was refused, and begins again: a file it needs has changed"
                )
            ],
            to: sink
        )
        NewStart.begin(with: sockets)
    }

    /// Writes records on a thread of its own: a journal that stands still keeps no caller waiting for longer than a second.
    private func tell(_ records: [JournalRecord], to sink: JournalSink) {
        let journal = Journal(sink: sink)
        for record in records { journal.record(record) }
        journal.flush()
    }

    private func tellManager(_ status: String) {
        let notifier = ServiceNotifier()
        notifier.send(.failed(status: status))
        notifier.flush()
    }

    /// Answers who waits at the service manager's sockets, for a start that systemd does not repeat by itself.
    func refuseCallers(_ reason: String, until isMended: @escaping () -> Bool = { false }) {
        guard !sockets.isEmpty else { return }
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
        var refused = RefusedStart(sockets, answer: Array(head.utf8) + body, isMended: isMended)
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
