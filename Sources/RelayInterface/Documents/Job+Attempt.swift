public import RelayBase

extension Job {
    /// One attempt.
    public struct Attempt: Sendable {
        /// Counted from 1.
        public package(set) var number = 0
        /// The upstream's name.
        public package(set) var upstream = ""
        /// Where it was sent, as address and port; nil when there was no connection.
        public package(set) var address: String?
        /// The daemon of a fleet that made it; nil where the daemon is in none.
        public package(set) var node: String?
        /// When it began.
        public package(set) var startedAt: WallTime?
        package var startedAfter: Int64 = 0
        package var isResent = false
        package var time: Duration?
        package var timing: Timing?
        package var result = ""
        /// The answer's status; nil when there was none.
        public package(set) var status: Status?
        package var kind: String?
        package var cause: String?
        package var sent: String?
        package var detail: String?
        package var apiCode: String?
        package var apiTitle: String?
        /// The recovery rule that decided what came next; nil when none matched.
        public package(set) var rule: String?
        /// The decision on what came next, such as `retry`, `failover` or `fail`.
        public package(set) var next: String?
        /// The wait before the next attempt.
        public package(set) var wait: Duration?
        package var nextUpstream: String?
        /// The upstream's word of the attempts before, where this one only asked for it: `found`, `absent` or `unclear`; of
        /// an operation `running`, `done`, `failed`, `gone` or `unanswered`, and of its end `told` or `untold`.
        public package(set) var lookUp: String?
        /// The path of the operation that it began, without its query; nil where it began none.
        public package(set) var operation: String?
        package var nextSource: String?
        package var isSpent = false
        package var heldBack: [Held] = []

        package init() {}
    }

    /// Why an attempt failed.
    public struct Failure: Sendable {
        /// The word for it, such as `http_status` or `connection_refused`.
        public package(set) var kind = ""
        package var text: String?
        /// In words, safe to show; empty when the relay says no more.
        public var detail: String { text ?? "" }
        /// Whether it reached the upstream: `never_sent`, `refused`, `unknown` or `answered`; nil when the relay does
        /// not say.
        public package(set) var sent: String?
        /// The answer's status; nil when there was none.
        public package(set) var status: Status?
        package var apiCode: String?
        package var apiTitle: String?
        package var isPastDeadline = false
        package var upstream: String?

        package init() {}
    }

    /// The reason that keeps a job from being delivered.
    public struct Blocker: Sendable {
        /// A word such as `backoff` or `route_paused`.
        public package(set) var reason = ""
        /// In words, safe to show.
        public package(set) var detail = ""
        package var since: WallTime?
        /// When it goes on by itself; nil when that is not known.
        public package(set) var until: WallTime?

        package init() {}
    }

    /// The caller that handed a job over, as the kernel named it.
    public struct Client: Sendable {
        /// The user's number.
        public package(set) var uid: UInt32 = 0
        package var process: Int32?
        /// The systemd unit; nil when the process had none.
        public package(set) var unit: String?
        /// The daemon of a fleet on whose machine the number is that user's; nil where it is the same user everywhere.
        public package(set) var node: String?

        package init() {}
    }
}

extension Job.Attempt {
    /// How long it took; zero where nobody knows.
    public var duration: Duration { time ?? .zero }

    /// Why it failed; nil when it did not.
    public var failure: Job.Failure? {
        guard let kind else { return nil }
        var failure = Job.Failure()
        failure.kind = kind
        failure.text = detail
        failure.sent = sent
        failure.status = status
        return failure
    }
}
