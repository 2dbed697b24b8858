package import RelayBase

/// The part of a durable job that changes, and every legal change of it.
///
/// Times are milliseconds on the store's line (`StoreClock`). A method that returns false has changed nothing:
/// what was asked is not legal in this state.
package struct JobStateMachine: Equatable, Sendable {
    package var state: JobState
    package var reason: WaitReason?
    package var end: EndReason?
    /// Of the last failed attempt.
    package var failureKind: FailureKind?
    /// Of the answer of that attempt, where there was one.
    package var failureStatus: Status?
    package var runAt: Int64
    package var expiresAt: Int64?
    package var finishedAt: Int64?
    /// Recorded attempts; never fewer than before.
    package var attempts: UInt32 = 0
    /// Attempts that count against the job's allowance; a replay starts again at zero.
    package var spentAttempts: UInt32 = 0
    /// Recorded attempts before its present life, which begins with acceptance or the last replay.
    package var earlierAttempts: UInt32 = 0
    /// Crashes at which the job was in flight; a replay starts again at zero.
    package var crashes: UInt32 = 0
    /// The live claim; zero when there is none.
    package var token: UInt64 = 0
    /// Counts every change; the API's ETag.
    package var version: UInt64 = 1
    package var isCancelAsked = false
    /// Whether a newer job took its place while it ran.
    package var isSuperseded = false
    /// Whether an attempt may have been carried out that the route would not repeat; until the job succeeds, whatever
    /// becomes of its later lives.
    package var isInDoubt = false
    /// The attempt under way, of a job that runs.
    package var begun: BegunAttempt?
    /// Whether sending it twice is acceptable.
    package let mayRepeat: Bool
    /// Whether the upstream can be asked what became of an attempt.
    package let asksFirst: Bool
    /// Whether each of its endings asks for a notice.
    package var notifies: Bool
    /// Notices of its endings, that of the last one included while it is owed.
    package var notices: UInt32 = 0
    /// Whether that of its last ending is still to be made.
    package var isNoticeOwed = false
    /// Whether `runAt` is still the date its submitter asked for: not once it was due, or was made due otherwise.
    package private(set) var isDated: Bool

    /// The crash at which a job in flight is given up.
    package static let crashLimit: UInt32 = 3
    /// The wait before another look at an operation, when as many crashes in a row have cut looks off.
    private static let crashPause: Duration = .seconds(60)

    /// A job that has just been accepted.
    package init(
        runAt: Int64,
        expiresAt: Int64?,
        mayRepeat: Bool,
        asksFirst: Bool = false,
        notifies: Bool = false,
        isDated: Bool,
        isBlocked: Bool,
        now: Int64
    ) {
        self.runAt = runAt
        self.expiresAt = expiresAt
        self.mayRepeat = mayRepeat
        self.asksFirst = asksFirst
        self.notifies = notifies
        self.isDated = isDated
        state = .queued
        wait(isBlocked: isBlocked, now: now)
    }

    /// A job as a store has kept it.
    package init(
        state: JobState,
        runAt: Int64,
        mayRepeat: Bool,
        asksFirst: Bool = false,
        notifies: Bool = false,
        isDated: Bool
    ) {
        self.state = state
        self.runAt = runAt
        self.mayRepeat = mayRepeat
        self.asksFirst = asksFirst
        self.notifies = notifies
        self.isDated = isDated
    }

    /// The attempts before its acceptance are its own: it is being retried.
    package mutating func inherit(_ past: PriorAttempts) {
        attempts = UInt32(clamping: past.attempts.count)
        spentAttempts = UInt32(clamping: past.attempts.count { $0.isSpent })
        isInDoubt = past.isUncertain
        let last = past.attempts.last?.failure
        (failureKind, failureStatus) = (last?.kind, last?.status)
        guard attempts > 0, reason != .ordering else { return }
        // The moment that it waits for is no date of its submitter's.
        if state == .scheduled { reason = .backoff }
        state = .retrying
    }

    /// The reason for which it waits; nil while it does not.
    package var waitReason: WaitReason? { state == .running ? nil : reason }

    /// Whether a claim may take it, once `runAt` has come.
    package var isReady: Bool {
        (state == .queued || state == .retrying) && reason != .ordering
    }

    /// Whether it has a time at which a claim may take it.
    package var isAwaited: Bool { isReady || state == .scheduled }

    /// Enters the waiting state that fits: behind another job, before its time, or due.
    private mutating func wait(isBlocked: Bool, now: Int64) {
        if isBlocked {
            state = .queued
            reason = .ordering
        } else if runAt > now, attempts > 0 {
            // It has been sent: what it waits for is no date of its submitter's.
            state = .retrying
            reason = .backoff
        } else if runAt > now {
            state = .scheduled
            reason = .notBefore
        } else {
            state = .queued
            reason = nil
            isDated = false
        }
    }

    private mutating func finish(_ state: JobState, _ end: EndReason?, now: Int64) {
        self.state = state
        self.end = end
        reason = nil
        token = 0
        begun = nil
        isCancelAsked = false
        isSuperseded = false
        finishedAt = now
        version += 1
        if notifies { oweNotice() }
    }
}

// Notices of endings.
extension JobStateMachine {
    /// The job is over, and its notice is still to be made: whatever ends a job says so in the same change.
    package mutating func oweNotice() {
        notifies = true
        notices = notices == .max ? .max : notices + 1
        isNoticeOwed = true
    }

    /// The notice is a job of its own.
    package mutating func noticeMade() { isNoticeOwed = false }

    /// Nobody is to be told of this ending.
    package mutating func noticeWaived() {
        guard isNoticeOwed else { return }
        isNoticeOwed = false
        notices -= 1
    }
}

extension JobStateMachine {
    /// The moment has come, or the job before it in its ordering key is over.
    @discardableResult
    package mutating func wake(now: Int64) -> Bool {
        guard state == .scheduled && runAt <= now || state == .queued && reason == .ordering else {
            return false
        }
        wait(isBlocked: false, now: now)
        version += 1
        return true
    }

    /// The wall clock has stepped: a dated job is due at another point of the line, also one that is put aside or
    /// behind another until then.
    package mutating func redate(runAt: Int64) -> Bool {
        guard isDated, !state.isTerminal, runAt != self.runAt else { return false }
        self.runAt = runAt
        return true
    }

    /// Claims the job for `begun`, the attempt that comes next.
    package mutating func claim(token: UInt64, _ begun: BegunAttempt, now: Int64) -> Bool {
        guard isReady, runAt <= now, token != 0 else { return false }
        if let expiresAt, expiresAt <= now { return false }
        state = .running
        // The sign of a look at an operation, which stays as long as no other attempt begins.
        if reason != .following { reason = nil }
        self.token = token
        self.begun = begun
        version += 1
        return true
    }

    /// Waits until it is known whether it has expired.
    package mutating func postpone(until time: Int64) -> Bool {
        guard isReady, runAt < time else { return false }
        runAt = time
        version += 1
        return true
    }

    /// Waits until the job with its supersede key that runs has come to rest.
    package mutating func block() -> Bool {
        guard isReady else { return false }
        state = .queued
        reason = .ordering
        version += 1
        return true
    }

    /// Another attempt of the claim `token` is about to be sent; `attempts` of it came to nothing.
    package mutating func begin(
        token: UInt64,
        _ begun: BegunAttempt,
        attempts: UInt32,
        spent: UInt32,
        kind: FailureKind?
    ) -> Bool {
        guard state == .running, token == self.token, token != 0, !isCancelAsked, !isSuperseded else {
            return false
        }
        self.attempts += attempts
        spentAttempts += spent
        if let kind { failureKind = kind }
        reason = nil
        self.begun = begun
        version += 1
        return true
    }

    /// The attempt that has begun under the claim `token` is about to be sent once more.
    package mutating func resend(token: UInt64) -> Bool {
        guard state == .running, token == self.token, token != 0, !isCancelAsked, !isSuperseded, begun != nil
        else {
            return false
        }
        begun?.isResent = true
        version += 1
        return true
    }

    /// Ends the claim `token`.
    package mutating func settle(
        token: UInt64,
        _ ending: Settlement.Ending,
        attempts: UInt32,
        spent: UInt32,
        kind: FailureKind?,
        isUncertain: Bool = false,
        isSettled: Bool = false,
        now: Int64
    ) -> Bool {
        guard state == .running, token == self.token, token != 0 else { return false }
        self.attempts += attempts
        spentAttempts += spent
        crashes = 0
        isInDoubt = ending != .succeeded && (isInDoubt && !isSettled || isUncertain)
        if let kind { failureKind = kind }
        switch ending {
        case .succeeded: finish(.succeeded, nil, now: now)
        case .cancelled: finish(.cancelled, .cancelled, now: now)
        case _ where isSuperseded: finish(.cancelled, isCancelAsked ? .cancelled : .superseded, now: now)
        case .dead(let end): finish(.dead, end, now: now)
        case .expired: finish(.expired, .expired, now: now)
        case .retry, .requeued, .held:
            if isCancelAsked {
                finish(.cancelled, .cancelled, now: now)
                return true
            }
            wait(after: ending, now: now)
        }
        return true
    }

    private mutating func wait(after ending: Settlement.Ending, now: Int64) {
        token = 0
        begun = nil
        version += 1
        switch ending {
        case .retry(let delay, let reason):
            state = .retrying
            self.reason = reason
            runAt = StoreClock.advance(now, by: delay)
        case .requeued(let delay, let reason):
            // A job that has failed before is still being retried, whatever held back its next attempt.
            state = attempts > 0 ? .retrying : .queued
            self.reason = reason
            runAt = delay > .zero ? StoreClock.advance(now, by: delay) : min(runAt, now)
        case .held(let reason):
            state = .held
            self.reason = reason
            runAt = min(runAt, now)
        case .succeeded, .dead, .cancelled, .expired:
            preconditionFailure("\(ending) is no way to wait")
        }
    }

    /// Gives back the claim `token`, of which nobody has been told: nothing was sent.
    package mutating func giveUp(token: UInt64, stays: Bool, now: Int64) -> Bool {
        settle(
            token: token,
            stays ? .requeued(after: .zero, nil) : .cancelled,
            attempts: 0,
            spent: 0,
            kind: nil,
            now: now
        )
    }

    /// Found in flight by the process after the one that had claimed it: the attempt that was under way counts, and
    /// is number `attempts` now.
    @discardableResult
    package mutating func recover(now: Int64) -> Bool {
        guard state == .running else { return false }
        crashes += 1
        let isLook = reason == .following
        if begun != nil {
            attempts += 1
            spentAttempts += 1
            (failureKind, failureStatus) = (.interrupted, nil)
            isInDoubt = isInDoubt || !mayRepeat
        }
        if isCancelAsked || isSuperseded {
            finish(.cancelled, isCancelAsked ? .cancelled : .superseded, now: now)
        } else if !mayRepeat, !asksFirst || begun == nil {
            finish(.dead, .outcomeUnknown, now: now)
        } else if crashes >= Self.crashLimit, !isLook {
            finish(.dead, .poison, now: now)
        } else {
            token = 0
            begun = nil
            version += 1
            state = attempts > 0 ? .retrying : .queued
            reason = isLook ? .following : nil
            // A look changes nothing, so that the job is not given up for it; it may still be what ends the relay.
            runAt =
                crashes >= Self.crashLimit ? StoreClock.advance(now, by: Self.crashPause) : min(runAt, now)
        }
        return true
    }
}

extension JobStateMachine {
    /// Cancels a job that waits, or asks for it when it runs.
    package mutating func cancel(_ end: EndReason = .cancelled, now: Int64) -> Bool {
        guard !state.isTerminal, !isCancelAsked else { return false }
        if state == .running {
            isCancelAsked = true
            version += 1
        } else {
            finish(.cancelled, end, now: now)
        }
        return true
    }

    /// A newer job takes its place: one that waits is over, one that runs gets no other attempt.
    package mutating func supersede(now: Int64) -> Bool {
        guard state == .running else { return cancel(.superseded, now: now) }
        guard !isSuperseded else { return false }
        isSuperseded = true
        version += 1
        return true
    }

    /// Attempt `number` goes on record, which only stopped the operation of the job that is cancelled.
    package mutating func note(number: Int) -> Bool {
        guard state == .cancelled, Int(attempts) + 1 == number else { return false }
        attempts += 1
        version += 1
        return true
    }

    package mutating func expire(now: Int64) -> Bool {
        guard !state.isTerminal, state != .running, let expiresAt, expiresAt <= now else { return false }
        finish(.expired, .expired, now: now)
        return true
    }

    /// Gives up a job whose record is damaged.
    package mutating func quarantine(now: Int64) -> Bool {
        guard !state.isTerminal else { return false }
        finish(.dead, .corrupt, now: now)
        return true
    }

    package mutating func hold() -> Bool {
        guard reason != .operatorHold else { return false }
        return putAside(.operatorHold)
    }

    /// No daemon of the fleet has its route.
    package mutating func strand() -> Bool { state != .held && putAside(.routeRemoved) }

    private mutating func putAside(_ why: WaitReason) -> Bool {
        guard !state.isTerminal, state != .running else { return false }
        state = .held
        reason = why
        version += 1
        return true
    }

    package mutating func release(isBlocked: Bool, now: Int64) -> Bool {
        guard state == .held else { return false }
        wait(isBlocked: isBlocked, now: now)
        if attempts > 0, !isBlocked {
            // The rest of its backoff ends at no date of its submitter's: a step of the clock means nothing to it.
            state = .retrying
            reason = runAt > now ? .backoff : nil
        }
        version += 1
        return true
    }

    /// Makes a waiting job due at `runAt`, at the latest, by default now.
    package mutating func hurry(isBlocked: Bool, runAt due: Int64? = nil, now: Int64) -> Bool {
        guard
            state == .scheduled || state == .retrying || state == .held || state == .queued && reason != nil,
            !isBlocked
        else { return false }
        let earliest = max(now, due ?? now)
        // A job that goes sooner by itself is left as it is, with its date.
        guard state == .held || runAt <= now || earliest < runAt else { return false }
        isDated = false
        runAt = min(state == .held ? .max : runAt, earliest)
        if runAt > now {
            if state == .held { state = attempts > 0 ? .retrying : .queued }
            reason = .throttled
        } else {
            state = .queued
            reason = nil
        }
        version += 1
        return true
    }

    /// Gives a job that is over without success another life, which is due at `runAt`, by default now.
    package mutating func replay(isBlocked: Bool, runAt due: Int64? = nil, now: Int64) -> Bool {
        guard state == .dead || state == .cancelled || state == .expired else { return false }
        isInDoubt = isInDoubt || end?.mayHaveActed == true
        // It is not over after all.
        noticeWaived()
        end = nil
        finishedAt = nil
        expiresAt = nil
        spentAttempts = 0
        earlierAttempts = attempts
        crashes = 0
        isDated = false
        runAt = max(now, due ?? now)
        state = .queued
        reason = isBlocked ? .ordering : runAt > now ? .throttled : nil
        version += 1
        return true
    }

    /// Counts a change beside the state, such as bodies that were dropped.
    package mutating func touch() { version += 1 }
}
