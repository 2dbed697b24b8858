/// Names a kind of record for ever: 128 bits, chosen once at random.
///
/// `deploy/systemd/waystationd.catalog` explains each of them; a test keeps the two in step.
package struct MessageID: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits.
    package let text: String

    private init(_ text: String) { self.text = text }

    /// One attempt failed; the job goes on.
    package static let attemptFailed = MessageID("bc959c9de819456cb95b817bb6f0a24d")
    /// A job succeeded after at least one failed attempt.
    package static let recovered = MessageID("36694db094e74ee8ab464c110b0398bc")
    /// A job ended in a failure.
    package static let jobFailed = MessageID("753dc1f5acac42628dfb824bc23ba558")
    /// The relay answered in the upstream's stead.
    package static let fallbackServed = MessageID("a6778402e86c40df8eaaeb9ea2164767")
    /// A failure reached the caller of a route that never fails.
    package static let neverFailsBreached = MessageID("4ccf4de25162bbe6c81c5b42718ae13f")
    /// An upstream showed none of the pinned keys, and the pins only report.
    package static let pinsMissed = MessageID("e882b01e651f1d0a2eca8fee222ae5b6")
    package static let credentialRefreshed = MessageID("7eacd16458e546abb0fe3e321b923689")
    package static let credentialFailed = MessageID("5f9d98192fcd42ba9bc2f415a46a0b9e")
    package static let configLoaded = MessageID("891db934a5984202972536ecc7ceb942")
    /// A configuration was refused; a running daemon keeps the one it has.
    package static let configRejected = MessageID("36a1904094d7403c823e524dfeee66e1")
    package static let started = MessageID("63f0fb73979647d39d15d83acf267d10")
    package static let stopping = MessageID("978c633f952c4ec5a9ff198567e9210f")
    package static let stopped = MessageID("8605781ad9d04a9ea6b5e1c349d4a477")
    /// The journal was too slow and records were lost.
    package static let recordsDropped = MessageID("893a37b73d91492d89520dbb6c779c87")
    /// Records of one kind came too often and were counted instead of written.
    package static let recordsSuppressed = MessageID("1aa4535cc0534d1983694749da13436e")
    /// A vital loop stands still, so the watchdog is no longer fed.
    package static let loopStalled = MessageID("e279e18f9e884127855128defcc606b2")

    /// A user namespace hides who the callers are.
    package static let callersHidden = MessageID("330098009d8f48ddbc721fba9e4c61f7")
    /// The store's disk takes no writes.
    package static let storeStalled = MessageID("d5ca579486fe4796a3295dce490cbf96")
    /// The store's disk takes writes again.
    package static let storeResumed = MessageID("51438da7a110466ea8c93730342cc9e0")

    /// The network counts as constrained now, or no longer, or somebody else decides.
    package static let constrainedChanged = MessageID("d435103ad33c47beb3638c5ec5e626d4")
    /// A durable job was given up; it is kept and can be retried.
    package static let jobDead = MessageID("b785bf2a9ecc44b444cd501954ef66a3")
    /// A durable job's time ran out before it was delivered.
    package static let jobExpired = MessageID("11438dbfa1394ec80c16e25362457795")
    /// A route sends nothing until it is resumed.
    package static let routePaused = MessageID("02d26309775ceab8868b1b3a163fd695")
    package static let routeResumed = MessageID("f98c10cfca24f15b5e81908b209a6418")
    /// An operator lifted what held the requests of a route back.
    package static let limitsCleared = MessageID("971c3696d309a481ae3713f361086061")
    /// An upstream has failed too often, or still does: requests that fail are not sent for a while.
    package static let breakerOpened = MessageID("3f6c0d6b1c5f4a0f9d1a7e6b52c9e84d")
    /// An upstream works again.
    package static let breakerClosed = MessageID("a91d5f3e0b7c4d6e8f25c3b4907d1e62")
    /// An operator had a breaker kept open or closed, or left to itself.
    package static let breakerOrdered = MessageID("c4e81f6a7d9b4b02a5f3e6d8217c90ab")
    /// The job store has something to say: it is full, or has room again.
    package static let storeNotice = MessageID("6d4c6645daa8ad4ab90a5262b053980c")
    /// The job store cannot go on; the daemon ends and is started again.
    package static let storeFailed = MessageID("78f2e14bc7977bae8bc44b07b8a5f12d")
    /// The job store has to be mended by somebody before there can be a daemon.
    package static let storeRefused = MessageID("1e28db0fcb0b4436a88cd0faecdb2042")
    /// A request was too large for the relay.
    package static let requestRefused = MessageID("b66f84c1fd1b4c9e924a443f3830011c")
    /// A caller came to a bound on what one caller may take.
    package static let callerRefused = MessageID("5b0e1c4d9a2f4e76b8c3d1f06a7e9254")
    /// Memory is short: new work is refused.
    package static let sheddingBegan = MessageID("c7a94be2130d4f58a6e1950c3b8d7f42")
    /// Memory is no longer short.
    package static let sheddingEnded = MessageID("0f6d2b81c94e47a3b5d8e07f1a3c6925")
    /// An operator acted on durable jobs.
    package static let jobsChanged = MessageID("8f4297811067674f5f151ccbe57f9490")

    /// Every id with its name, for the catalog.
    package static let all: [(name: String, id: MessageID)] = [
        ("attempt_failed", attemptFailed), ("recovered", recovered), ("job_failed", jobFailed),
        ("fallback_served", fallbackServed), ("credential_refreshed", credentialRefreshed),
        ("credential_failed", credentialFailed), ("config_loaded", configLoaded),
        ("config_rejected", configRejected), ("started", started), ("stopping", stopping),
        ("stopped", stopped), ("records_dropped", recordsDropped),
        ("records_suppressed", recordsSuppressed), ("loop_stalled", loopStalled),
        ("never_fails_breached", neverFailsBreached), ("pins_missed", pinsMissed),
        ("constrained_changed", constrainedChanged), ("job_dead", jobDead), ("job_expired", jobExpired),
        ("route_paused", routePaused), ("route_resumed", routeResumed), ("limits_cleared", limitsCleared),
        ("breaker_opened", breakerOpened),
        ("breaker_closed", breakerClosed), ("breaker_ordered", breakerOrdered), ("store_notice", storeNotice),
        ("store_failed", storeFailed), ("jobs_changed", jobsChanged), ("callers_hidden", callersHidden),
        ("store_stalled", storeStalled), ("store_resumed", storeResumed), ("request_refused", requestRefused),
        ("caller_refused", callerRefused), ("shedding_began", sheddingBegan),
        ("shedding_ended", sheddingEnded), ("store_refused", storeRefused),
    ]
}
