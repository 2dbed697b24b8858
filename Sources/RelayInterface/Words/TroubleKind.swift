package import RelayBase

/// The kind of a thing that is wrong, in the order in which those stand that cost the same.
///
/// A row has the name with the state that such a trouble has at least, and `Relay`: the measures that the relay takes.
package enum TroubleKind: WordRow, CaseIterable, Sendable {
    case storeGone = """
        store_gone: failing
        Somebody removed or replaced a file of the job store while the daemon has it open.
        Causes: Somebody cleans the state directory, or restores a backup under a relay that runs.
        Relay: No job is accepted or delivered; requests that wait for their answer are served.
        Do: Move the files back; or stop the relay, restore a backup and start it.
        """
    case storeUnavailable = """
        store_unavailable: failing
        The server that holds the job store is away.
        Causes: The database is stopped, restarts or fails over; it has no connection left; the network between is down.
        Relay: No job is accepted, and none ends, until it is back; requests that wait for their answer are served.
        Do: See the database and the way to it; the relay goes on by itself.
        """
    case storeStalled = """
        store_stalled: failing
        The disk of the job store takes no writes.
        Causes: A failing disk, or one that others keep busy; network storage that is away.
        Relay: No job is accepted, and none ends, until it does; requests that wait for their answer are served.
        Do: Look at the disk and at the kernel's log.
        """
    case storeFull = """
        store_full: failing
        The job store has no room.
        Causes: storage.max_size is reached, or the disk is full.
        Relay: No job is accepted; those that are kept are delivered.
        Do: Free space on its disk, raise storage.max_size, or drop jobs.
        """
    case memoryShort = """
        memory_short: failing
        Memory is short.
        Causes: The kernel reports memory pressure; the process takes more than limits.shedding.max_resident; bodies \
        take nearly all of limits.memory.
        Relay: New work is refused, the least urgent first.
        Do: See what takes the memory of the machine; raise limits.memory or limits.shedding.max_resident where there \
        is more.
        """
    case draining = """
        draining: degraded
        The daemon is stopping.
        Causes: Somebody stops or restarts it.
        Relay: It ends what is under way and takes nothing new; kept jobs go on after its next start.
        Do: Wait.
        """
    case credentialFailing = """
        credential_failing: failing
        A credential could not be obtained.
        Causes: The token endpoint is down or refuses; the secret was replaced.
        Relay: Requests that need it fail at once, kept jobs wait, and one at a time tries it again.
        Do: See the token endpoint's answer in the last failure; compare token_url, client_id and the secret with \
        what it expects, and reload.
        """
    case credentialRefused = """
        credential_refused: failing
        Upstreams refuse a credential that was just fetched.
        Causes: The client lacks the right or the scope, the token is for another audience, or the upstream and the \
        token endpoint disagree.
        Relay: It fetches none for them for 1 s, then twice as long each time, up to 5 min.
        Do: Compare scopes, audience and account with what the upstream wants; the first request that succeeds \
        clears it.
        """
    case upstreamUnreachable = """
        upstream_unreachable: degraded
        No connection to an upstream comes about.
        Causes: Its service is stopped; its name, its certificate or the network is wrong.
        Relay: It tries again as the route's rules say; while the breaker is open requests fail at once and kept jobs \
        wait, and one at a time probes.
        Do: Start the service, or correct the upstream's url.
        """
    case upstreamFailing = """
        upstream_failing: degraded
        An upstream fails.
        Causes: It answers 5xx, too late, or no valid HTTP.
        Relay: It tries again as the route's rules say; while the breaker is open requests fail at once and kept jobs \
        wait, and one at a time probes.
        Do: Mend the upstream; the last failure and its own log say more.
        """
    case requestsRefused = """
        requests_refused: degraded
        An upstream refuses requests as they are.
        Causes: A client that sends what the upstream does not take; an interface that has changed.
        Relay: Answers reach their callers as they are; kept jobs end as the route's rules say.
        Do: Mend the requests; the upstream's answers say why.
        """
    case throttled = """
        throttled: degraded
        An upstream asks for fewer requests.
        Causes: It answers 429, or with Retry-After or RateLimit fields; the route's own rate_limit.
        Relay: It sends no sooner and no faster than that; what has no time to wait fails.
        Do: Send less, or have the upstream's limit raised; to see more: waystation limits ROUTE
        """
    case saturated = """
        saturated: degraded
        Requests wait for a permit of their route.
        Causes: The upstream is slow, or its callers come all at once.
        Relay: They wait in turn; what finds no room to wait is refused.
        Do: Raise concurrency when the upstream can bear it; to see more: waystation limits ROUTE
        """
    case relayFailing = """
        relay_failing: degraded
        The relay itself could not send requests, or not put them on record.
        Causes: A disk that fails; a daemon that was killed.
        Relay: Kept jobs are tried again where that is safe.
        Do: Look at the disk and at the daemon's journal.
        """
    case neverFailsBreached = """
        never_fails_breached: degraded
        Failures reached callers although the route never fails.
        Causes: Its rules have no stand-in for that failure, or a stand-in could not be made.
        Relay: It answers with the failure.
        Do: Give the route a rule on any with respond; to see the last failure: waystation routes ROUTE
        """
    case routePaused = """
        route_paused: paused
        Routes are paused.
        Causes: An operator paused them, or a rule with pause_route.
        Relay: Kept jobs wait, and other requests are answered 503; those that waited already go on.
        Do: When the cause is gone: waystation resume ROUTE
        """
    case breakerForced = """
        breaker_forced: degraded
        An operator keeps circuit breakers as they are.
        Causes: Somebody said so, for a time.
        Relay: Where one is kept open nothing is sent; where it is kept closed all is, whatever comes of it.
        Do: When they may be left to themselves again: waystation breaker ROUTE auto
        """
    case routeUnconfigured = """
        route_unconfigured: degraded
        Jobs wait for a route that the configuration does not have.
        Causes: A route that was renamed or removed while it had jobs; of a fleet, that no daemon has which runs.
        Relay: It keeps them.
        Do: Put the route back and reload; or cancel its jobs, and drop those that are over.
        """
    case jobsRetrying = """
        jobs_retrying: degraded
        Kept jobs failed and will be tried again.
        Causes: Their upstreams failed for a while.
        Relay: It tries each again when its rule says.
        Do: Wait.
        """
    case jobsWaiting = """
        jobs_waiting: degraded
        Kept jobs could be sent and wait for a turn.
        Causes: More comes than the upstream takes; a slow upstream; a rate_limit.
        Relay: It sends them in turn.
        Do: See what holds them back: waystation limits ROUTE
        """
    case jobsHeld = """
        jobs_held: degraded
        Kept jobs are on hold.
        Causes: An operator or a rule with hold put them aside.
        Relay: It keeps them until somebody releases them.
        Do: Release them when they may go on.
        """
    case jobsDead = """
        jobs_dead: degraded
        Kept jobs are dead.
        Causes: The attempts or the time of their rules are spent, or the upstream refused them for good.
        Relay: It keeps them until somebody retries or drops them.
        Do: Mend the cause, then retry them, or drop them; by cause they stand in: waystation dead
        """
    case storeFilling = """
        store_filling: degraded
        The job store is nearly full.
        Causes: Jobs wait for long; storage.max_size or the disk is small.
        Relay: It accepts jobs as long as there is room.
        Do: Free space on its disk, raise storage.max_size, or drop jobs.
        """
    case storeDamaged = """
        store_damaged: degraded
        Damaged records were met in the job store.
        Causes: A failing disk, or somebody who changed the store's files.
        Relay: It ends the jobs that it cannot read as corrupt.
        Do: Look at the disk; hand those requests over again.
        """
    case noticesOwed = """
        notices_owed: degraded
        Jobs have ended of which another route is still to be told.
        Causes: No room in the job store; as many notices wait as max_queued_jobs; a route is gone.
        Relay: It keeps the endings, and makes the notices once it can.
        Do: Make room, or put the route back: without notify where nobody is to be told any more.
        """
    case reloadRefused = """
        reload_refused: degraded
        The last reload was refused.
        Causes: A mistake in the file; a secret or certificate that cannot be read.
        Relay: The configuration that was in force stays so.
        Do: Correct the file, then: waystation reload
        """
    case journalBlocked = """
        journal_blocked: degraded
        The journal takes no records.
        Causes: systemd-journald stands still, or what reads the daemon's standard error.
        Relay: Requests go on, and records are lost.
        Do: Look at systemd-journald, or at what reads the daemon's standard error.
        """
    case journalLost = """
        journal_lost: degraded
        The journal did not take all records.
        Causes: systemd-journald stood still for a while, or what reads the daemon's standard error.
        Relay: Requests went on.
        Do: No action is needed; a restart of the daemon counts anew.
        """
    case callersHidden = """
        callers_hidden: degraded
        Callers' users are not known.
        Causes: The daemon is in a user namespace of its own.
        Relay: It takes all callers but root for one: allow_users, keys and the sight of jobs tell nobody apart.
        Do: Set PrivateUsers=no in the daemon's unit.
        """
    case networkConstrained = """
        network_constrained: degraded
        The network counts as constrained.
        Causes: An operator or a source of the configuration says so.
        Relay: Upstreams for that take the place of the first; requests are lighter, wait or are refused as routes say.
        Do: See why: waystation constrained
        """
}

extension TroubleKind {
    package var name: String { rawValue.name }
    /// The kind as a word of the interface.
    package var word: Word { Word(.trouble, rawValue) }
    /// The state that such a trouble has at least.
    package var state: TroubleState { TroubleState(rawValue: String(rawValue.note)) ?? .degraded }
    /// The measures that the relay takes.
    package var relay: String { rawValue.line("Relay: ") ?? "" }
}

/// How bad a trouble is; the worst is the state of the whole.
package enum TroubleState: String, CaseIterable, Comparable, Sendable {
    case ok
    case paused
    case degraded
    case failing

    package static func < (one: TroubleState, other: TroubleState) -> Bool {
        one != other && allCases.first { $0 == one || $0 == other } == one
    }
}
