import Glibc
import RelayBase
import RelayClient
import RelayInterface
import RelayJSON
import RelayPosix

/// Follows one job to its end.
struct JobWatch {
    private let daemon: DaemonAccess
    private let id: String
    private let end: Instant?
    private let show: (JSONValue) -> Void

    /// Seconds of one question.
    static let question = 30

    /// - Parameters:
    ///   - daemon: patient for longer than one question.
    ///   - id: the job.
    ///   - timeout: nil for as long as it takes.
    ///   - show: called with the job as it is, and whenever it has changed.
    init(_ daemon: DaemonAccess, _ id: String, timeout: Duration?, show: @escaping (JSONValue) -> Void) {
        self.daemon = daemon
        self.id = id
        self.show = show
        end = timeout.map { Instant(nanoseconds: SystemClock.monotonic()).advanced(by: $0) }
    }

    /// Returns when the job is over: done, or `upstreamFailed` when it ended without success.
    ///
    /// - Throws: `timedOut`, and what the daemon says; a daemon that goes away meanwhile is waited for.
    func run() throws(CommandFailure) -> ExitCode {
        var version: Int64?
        var isAway = false
        while true {
            let left = end.map { Instant(nanoseconds: SystemClock.monotonic()).duration(to: $0) }
            if let left, left <= .zero {
                throw CommandFailure(
                    .timedOut,
                    "job \(id) is not over yet",
                    advice: "Why it waits: " + daemon.advice("explain \(id)", isOwn: true)
                )
            }
            do throws(CommandFailure) {
                let job = try ask(after: version, within: left)
                isAway = false
                guard let job else { continue }
                version = job["version"]?.integer ?? 0
                show(job)
                let view = JobDocument(job)
                if view.isOver { return view.state == "succeeded" ? .done : .upstreamFailed }
            } catch {
                guard version != nil, [.notReachable, .failed, .timedOut].contains(error.code) else {
                    throw error
                }
                if !isAway {
                    Output.error.write("waystation: \(error.message); waiting for it to come back\n")
                }
                isAway = true
                _ = poll(nil, 0, 500)
            }
        }
    }

    /// The job as soon as it is no longer of that version; nil when it still was at the end of the question.
    private func ask(after version: Int64?, within left: Duration?) throws(CommandFailure) -> JSONValue? {
        var fields = HeaderFields()
        var query = QueryText()
        if let version {
            let question = Duration.seconds(JobWatch.question)
            query.add("wait", DurationText.text(min(left ?? question, question)))
            fields.append("If-None-Match", "\"v\(version)\"")
        }
        let response = try daemon.request(.get, query.target("/v1/jobs/\(id)"), fields: fields)
        if response.status == 304 { return nil }
        guard response.status == 200 else { throw CommandFailure(response) }
        return try DaemonAccess.parse(response)
    }
}

/// The lines a watcher sees: what is new since the last one.
struct JobNews {
    private let moments: (Int64) -> Moments
    private var attempts = 0
    private var told: String?
    /// The moment of the last line: the clocks of the daemon and of the watcher are read at different moments.
    private var last: Int64 = 0

    init(isUTC: Bool) { moments = { Moments(now: $0, isUTC: isUTC) } }

    mutating func lines(of job: JSONValue, now: Int64) -> String {
        let view = JobDocument(job)
        let moments = moments(now)
        var text = ""
        for attempt in view.job.attempts where attempt.number > attempts {
            attempts = attempt.number
            let status = attempt.status.map { " \($0.rawValue)" } ?? ""
            let kind = attempt.kind.map { " \(safe($0))" } ?? ""
            let ended =
                (attempt.startedAt?.milliseconds ?? now) + attempt.duration.saturatedNanoseconds / 1_000_000
            text +=
                "\(moments.precise(later(ended)))  attempt \(attempt.number) → \(safe(attempt.upstream))\(status)\(kind)\n"
        }
        var state = view.stateAndReason
        if !view.isOver, let due = view.job.dueAt?.milliseconds, due > now {
            state += ", next in \(Moments.span(due - now))"
        }
        // The wait gets shorter by itself, which is no news.
        guard told != view.stateAndReason || !text.isEmpty else { return text }
        told = view.stateAndReason
        let ended = view.job.finishedAt?.milliseconds
        return text + "\(moments.precise(later(ended ?? now)))  \(state)\n"
    }

    /// Never before the line above.
    private mutating func later(_ moment: Int64) -> Int64 {
        last = max(last, moment)
        return last
    }
}
