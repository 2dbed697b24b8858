package import RelayBase

/// The types of events in the feed, which have the prefix `waystation.` there.
///
/// `Data` of a row describes the members of the event's `data`. `Journal` is the priority, the name and the id of its
/// record, `Mark`, with the state where there are several, what is told of it beside the figures of its route, and `Counter`
/// the metric that counts it, with the value of its label.
package enum EventKind: WordRow, CaseIterable, Sendable {
    case jobAccepted = """
        job.accepted
        A job is on disk.
        Data: Where a request was answered in the upstream's stead: source (what it was answered with), attempt (how \
        many it has had) and detail.
        """
    case attemptStarted = """
        job.attempt.started
        An attempt of a kept job is on disk and about to be sent.
        Data: attempt, upstream.
        """
    case attemptFailed = """
        job.attempt.failed
        An attempt failed, of a kept job or of a request that waits.
        Data: attempt, status, kind, detail, rule, wait_ms. It is told at once, so that the document of a kept job may \
        show the attempt as under way for a moment longer.
        """
    case jobLookedUp = """
        job.looked_up
        The upstream was asked what became of an attempt, of a kept job or of a request that waits, or has begun an \
        operation for it.
        Data: attempt, status, kind, detail, rule, wait_ms and look_up: found, absent or unclear; of an operation running, \
        done, failed, gone or unanswered, and told or untold of its end.
        """
    case jobRecovered = """
        job.recovered
        A request that waits succeeded after a failure.
        Data: attempt counts its attempts.
        """
    case jobSucceeded = """
        job.succeeded
        A kept job is over: the upstream did what was asked.
        Data: attempt, status.
        """
    case jobDead = """
        job.dead
        A kept job is over without success; end says why.
        Data: attempt, status, kind, detail, end.
        """
    case jobCancelled = """
        job.cancelled
        A kept job is over because somebody cancelled it or a newer one took its place.
        Data: attempt, status, kind, detail, end.
        """
    case jobExpired = """
        job.expired
        A kept job is over because its time ran out.
        Data: attempt, status, kind, detail, end.
        """
    case jobHeld = """
        job.held
        A kept job was put aside.
        Data: attempt, status, kind, detail.
        """
    case requestRefused = """
        request.refused
        A request was refused as it is; code says why.
        Data: status, code, detail and, where its path names one that there is, route. At most five a minute of one user \
        and fifty of all are told.
        """
    case runStarted = """
        run.started
        An action on every job that matches began, and goes on by itself.
        Data: run (its number), action, total (how many matched, where that is known), detail (why) and by.
        Journal: 5 run_started 0e9d2f6c7a414f0b8c35d1e2a96b7f48
        """
    case runEnded = """
        run.ended
        An action on every job that matched is over; state says how.
        Data: run, action, state (done, stopped or failed), matched, changed, detail and by (who stopped it).
        Journal: 5 run_ended 5b7c1e0f93d84a6e9f2b60c4d8a1e735
        """
    case routePaused = """
        route.paused
        A route sends nothing until it is resumed; detail is the reason.
        Data: detail, and rule (the rule that paused it) or by (uid and, where it is known, user).
        Mark: Paused
        """
    case routeResumed = """
        route.resumed
        A paused route goes on.
        Data: by, where somebody resumed it.
        Mark: Resumed
        """
    case routeClosed = """
        route.closed
        A route sends nothing until the end of a planned window.
        Data: until.
        Mark: Closed as planned
        """
    case routeOpened = """
        route.opened
        A planned window is over, and the route goes on.
        Mark: Open again
        """
    case routeBreaker = """
        route.breaker
        The breaker of an upstream has opened, stays open after a probe, or has closed; state tells which.
        Data: upstream, state (open or closed) and, while it is open, wait_ms until the next probe.
        Mark open: Circuit breaker of UPSTREAM opened
        Mark closed: Circuit breaker of UPSTREAM closed
        """
    case breakerOrdered = """
        route.breaker.ordered
        An operator had a breaker kept open or closed, or left to itself; previous is how it was.
        Data: upstream, state (open, closed or auto), previous, detail, by.
        Mark open: Circuit breaker of UPSTREAM kept open
        Mark closed: Circuit breaker of UPSTREAM kept closed
        Mark auto: Circuit breaker of UPSTREAM left to itself
        Journal: 5 breaker_ordered c4e81f6a7d9b4b02a5f3e6d8217c90ab
        """
    case limitsCleared = """
        route.limits.cleared
        An operator lifted what held requests back; detail says of which.
        Data: detail (the upstreams, and the requests where it was about some), by.
        Mark: Holds of UPSTREAM lifted
        Journal: 5 limits_cleared 971c3696d309a481ae3713f361086061
        """
    case credentialsRefreshed = """
        route.credentials.refreshed
        A credential was fetched anew; detail names it.
        Data: detail.
        """
    case credentialsFailed = """
        route.credentials.failed
        A credential could not be obtained; detail names it.
        Data: kind, detail.
        """
    case configReloaded = """
        config.reloaded
        A new configuration is in force; detail has the keys that differ.
        Data: detail (the first six of them, without values).
        Counter: waystation_config_reloads success
        """
    case configRejected = """
        config.rejected
        A new configuration was refused, and the old one kept; detail has the mistakes.
        Data: detail.
        Counter: waystation_config_reloads failure
        """
    case storageStalled = """
        storage.stalled
        The disk of the job store takes no writes.
        Data: detail.
        Journal: 2 store_stalled d5ca579486fe4796a3295dce490cbf96
        """
    case storageResumed = """
        storage.resumed
        The disk of the job store takes writes again.
        Data: detail.
        Journal: 5 store_resumed 51438da7a110466ea8c93730342cc9e0
        """
    case noticesOwed = """
        notices.owed
        Jobs have ended of which another route is still to be told, or was to be told until a reload.
        Data: detail.
        Journal: 4 notices_owed 3f6b0c81d2e94a57b1708c4de95a26f3
        """
    case gap = """
        gap
        The reader was too slow, or came too late: events are gone for it.
        Data: lost, how many; missing when the reader last heard an earlier process, since nobody knows then. The daemon \
        waits for no reader.
        """
    case heartbeat = """
        heartbeat
        Nothing has happened for 15 seconds.
        Data: It has no id either; on an event stream it is a comment.
        """

    /// The type of the event's document.
    package var type: String { "waystation." + rawValue.name }

    /// The words beside the figures of a route, by the state; UPSTREAM stands for its name.
    package var marks: [(state: String?, text: String)] {
        [nil, "open", "closed", "auto"].compactMap { state in
            rawValue.line("Mark\(state.map { " \($0)" } ?? ""): ").map { (state, $0) }
        }
    }

    /// The words of one mark; nil of what is none.
    package func mark(_ state: String?, of upstream: String?) -> String? {
        marks.first { $0.state == state }
            .map {
                $0.text.parts(between: " of UPSTREAM").joined(separator: upstream.map { " of \($0)" } ?? "")
            }
    }

    /// Those that a reader may ask for: an event that tells of the feed itself comes unasked.
    package static let asked = allCases.filter { $0 != .gap && $0 != .heartbeat }
}
