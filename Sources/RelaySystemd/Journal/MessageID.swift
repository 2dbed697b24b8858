/// Names a kind of record for ever: 128 bits, chosen once at random.
///
/// `deploy/systemd/waystationd.catalog` explains each of them; a test keeps the two in step.
package struct MessageID: Hashable, Sendable {
    /// As the catalog has it.
    package let name: String
    /// 32 lower-case hexadecimal digits.
    package let text: String

    package init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

    /// One attempt failed; the job goes on.
    package static let attemptFailed = MessageID("attempt_failed", "bc959c9de819456cb95b817bb6f0a24d")
    /// The upstream was asked what became of an attempt.
    package static let lookedUp = MessageID("looked_up", "c68bf341f06a47abb463f74e84459d9c")
    /// A job succeeded after at least one failed attempt.
    package static let recovered = MessageID("recovered", "36694db094e74ee8ab464c110b0398bc")
    /// A job ended in a failure.
    package static let jobFailed = MessageID("job_failed", "753dc1f5acac42628dfb824bc23ba558")
    /// The relay answered in the upstream's stead.
    package static let fallbackServed = MessageID("fallback_served", "a6778402e86c40df8eaaeb9ea2164767")
    /// A failure reached the caller of a route that never fails.
    package static let neverFailsBreached = MessageID(
        "never_fails_breached",
        "4ccf4de25162bbe6c81c5b42718ae13f"
    )
    /// An upstream showed none of the pinned keys, and the pins only report.
    package static let pinsMissed = MessageID("pins_missed", "e882b01e651f1d0a2eca8fee222ae5b6")
    package static let credentialRefreshed = MessageID(
        "credential_refreshed",
        "7eacd16458e546abb0fe3e321b923689"
    )
    package static let credentialFailed = MessageID("credential_failed", "5f9d98192fcd42ba9bc2f415a46a0b9e")
    package static let configLoaded = MessageID("config_loaded", "891db934a5984202972536ecc7ceb942")
    /// A configuration was refused; a running daemon keeps the one it has.
    package static let configRejected = MessageID("config_rejected", "36a1904094d7403c823e524dfeee66e1")
    package static let started = MessageID("started", "63f0fb73979647d39d15d83acf267d10")
    package static let stopping = MessageID("stopping", "978c633f952c4ec5a9ff198567e9210f")
    package static let stopped = MessageID("stopped", "8605781ad9d04a9ea6b5e1c349d4a477")
    /// The journal was too slow and records were lost.
    package static let recordsDropped = MessageID("records_dropped", "893a37b73d91492d89520dbb6c779c87")
    /// Records of one kind came too often and were counted instead of written.
    package static let recordsSuppressed = MessageID("records_suppressed", "1aa4535cc0534d1983694749da13436e")
    /// A vital loop stands still, so the watchdog is no longer fed.
    package static let loopStalled = MessageID("loop_stalled", "e279e18f9e884127855128defcc606b2")

    /// A user namespace hides who the callers are.
    package static let callersHidden = MessageID("callers_hidden", "330098009d8f48ddbc721fba9e4c61f7")

    /// The network counts as constrained now, or no longer, or somebody else decides.
    package static let constrainedChanged = MessageID(
        "constrained_changed",
        "d435103ad33c47beb3638c5ec5e626d4"
    )
    /// A durable job was given up; it is kept and can be retried.
    package static let jobDead = MessageID("job_dead", "b785bf2a9ecc44b444cd501954ef66a3")
    /// A durable job's time ran out before it was delivered.
    package static let jobExpired = MessageID("job_expired", "11438dbfa1394ec80c16e25362457795")
    /// A route sends nothing until it is resumed.
    package static let routePaused = MessageID("route_paused", "02d26309775ceab8868b1b3a163fd695")
    package static let routeResumed = MessageID("route_resumed", "f98c10cfca24f15b5e81908b209a6418")
    /// A route sends nothing in a planned window, which may be over.
    package static let routeClosed = MessageID("route_closed", "56cd930419622892aeb42db9ebc5b03e")
    package static let routeOpened = MessageID("route_opened", "0112c355a799ba7e230bd1b35472a02e")
    /// An upstream has failed too often, or still does: requests that fail are not sent for a while.
    package static let breakerOpened = MessageID("breaker_opened", "3f6c0d6b1c5f4a0f9d1a7e6b52c9e84d")
    /// An upstream works again.
    package static let breakerClosed = MessageID("breaker_closed", "a91d5f3e0b7c4d6e8f25c3b4907d1e62")
    /// The job store has something to say: it is full, or has room again.
    package static let storeNotice = MessageID("store_notice", "6d4c6645daa8ad4ab90a5262b053980c")
    /// The job store cannot go on; the daemon ends and is started again.
    package static let storeFailed = MessageID("store_failed", "78f2e14bc7977bae8bc44b07b8a5f12d")
    /// The job store has to be mended by somebody before there can be a daemon.
    package static let storeRefused = MessageID("store_refused", "1e28db0fcb0b4436a88cd0faecdb2042")
    /// A request was too large for the relay.
    package static let requestRefused = MessageID("request_refused", "b66f84c1fd1b4c9e924a443f3830011c")
    /// A caller came to a bound on what one caller may take.
    package static let callerRefused = MessageID("caller_refused", "5b0e1c4d9a2f4e76b8c3d1f06a7e9254")
    /// Memory is short: new work is refused.
    package static let sheddingBegan = MessageID("shedding_began", "c7a94be2130d4f58a6e1950c3b8d7f42")
    /// Memory is no longer short.
    package static let sheddingEnded = MessageID("shedding_ended", "0f6d2b81c94e47a3b5d8e07f1a3c6925")
    /// An operator acted on durable jobs.
    package static let jobsChanged = MessageID("jobs_changed", "8f4297811067674f5f151ccbe57f9490")
}
