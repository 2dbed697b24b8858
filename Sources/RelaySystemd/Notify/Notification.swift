/// One message to the service manager (sd_notify(3)).
package enum Notification: Sendable, Equatable {
    /// Start-up or a reload is over.
    case ready(status: String)
    /// A reload begins; the manager wants the monotonic clock with it.
    case reloading(monotonicMicroseconds: Int64, status: String)
    case stopping(status: String)
    case status(String)
    /// The running start, reload or stop may take this much longer, counted from now.
    case extendTimeout(Duration)
    case watchdog
    /// An invariant is broken: the manager shall act as if the watchdog had run out.
    case watchdogTrigger
    /// The service is well: when it ends, it may be started again as soon as after its first end (systemd 258).
    case restartReset
    /// Why the service is about to exit.
    case failed(status: String)

    /// The datagram's text: assignments, one a line.
    package var text: String {
        switch self {
        case .ready(let status): "READY=1\nSTATUS=\(singleLine(status))"
        case .reloading(let microseconds, let status):
            "RELOADING=1\nMONOTONIC_USEC=\(microseconds)\nSTATUS=\(singleLine(status))"
        case .stopping(let status): "STOPPING=1\nSTATUS=\(singleLine(status))"
        case .status(let status), .failed(let status): "STATUS=\(singleLine(status))"
        case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(microseconds(duration))"
        case .watchdog: "WATCHDOG=1"
        case .watchdogTrigger: "WATCHDOG=trigger"
        case .restartReset: "RESTART_RESET=1"
        }
    }

    /// The status line the message carries, if any.
    var statusLine: String? {
        switch self {
        case .ready(let status), .reloading(_, let status), .stopping(let status), .failed(let status),
            .status(let status):
            singleLine(status)
        case .extendTimeout, .watchdog, .watchdogTrigger, .restartReset: nil
        }
    }
}

/// `text` without line breaks, which would begin another assignment.
private func singleLine(_ text: String) -> String {
    JournalText.escaped(text, limit: 512)
}

/// The duration in whole microseconds, at most a day.
private func microseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = min(max(duration, .zero), .seconds(86_400)).components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
}
