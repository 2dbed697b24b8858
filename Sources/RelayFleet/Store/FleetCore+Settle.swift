import RelayBase
import RelayJobs
import RelayPostgres

/// A settlement whose caller waits for the word that it is kept.
struct PendingSettlement {
    let settlement: Settlement
    let told: @Sendable (Result<Settlement.Answer, StoreError>) -> Void
}

extension FleetCore {
    private static let batch = 256
    /// How often a change is tried again that met another one.
    private static let tries = 8

    func offer(_ pending: PendingSettlement) {
        do throws(StoreError) { try checkOpen() } catch { return pending.told(.failure(error)) }
        settling.add(pending)
        guard !settling.isWorked else { return }
        settling.isWorked = true
        spawn { await $0.settleAll() }
    }

    private func settleAll() async {
        while !settling.isEmpty {
            let batch = settling.take(Self.batch)
            let answers = await settle(batch.map(\.settlement))
            for (pending, answer) in zip(batch, answers) { pending.told(answer) }
        }
        settling.isWorked = false
    }

    private func settle(_ settlements: [Settlement]) async -> [Result<Settlement.Answer, StoreError>] {
        do throws(StoreError) {
            var byToken: [UInt64: Settlement] = [:]
            var rows: [FleetRow] = []
            // Of two of one claim the second finds it settled.
            let isFirst = settlements.map { settlement in
                guard byToken[settlement.token.number] == nil else { return false }
                byToken[settlement.token.number] = settlement
                return true
            }
            for settlement in byToken.values {
                if let row = try await held(settlement.token) { rows.append(row) }
            }
            var answers: [UInt64: Settlement.Answer] = [:]
            let changes = try await change(rows) { row, _ in
                if let token = row.settled, byToken[token] != nil, self.doubtful.contains(token) {
                    // Done already: the reply to it was lost.
                    answers[token] = .applied(row.standing.machine.state, row.standing.machine.end)
                    self.running[row.seq] = nil
                    return nil
                }
                return byToken[row.standing.machine.token].flatMap { self.settled(row, by: $0) }
            }
            for change in changes {
                let machine = change.after.machine
                running[change.before.seq] = nil
                answers[change.before.standing.machine.token] = .applied(machine.state, machine.end)
            }
            doubtful.subtract(byToken.keys)
            facts.operations += UInt64(changes.count)
            return zip(settlements, isFirst)
                .map { .success($1 ? answers[$0.token.number] ?? .stale : .stale) }
        } catch {
            doubtful.formUnion(settlements.map(\.token.number))
            return settlements.map { _ in .failure(error) }
        }
    }

    /// The claimed job as it is known here, or in the database where this process does not know it.
    private func held(_ token: ClaimToken) async throws(StoreError) -> FleetRow? {
        if let row = running[token.position], row.standing.machine.token == token.number { return row }
        guard let row = try await row(token.id), row.standing.machine.token == token.number else {
            return nil
        }
        return row
    }

    private func settled(_ row: FleetRow, by settlement: Settlement) -> FleetChange? {
        var after = row.standing
        let isSettled = after.machine.settle(
            token: settlement.token.number,
            settlement.ending,
            attempts: UInt32(clamping: settlement.attempts.count),
            spent: UInt32(clamping: settlement.attempts.count { $0.isSpent }),
            kind: settlement.failureKind,
            isUncertain: settlement.isUncertain,
            now: now
        )
        guard isSettled else { return nil }
        if settlement.failureKind != nil {
            after.machine.failureStatus = settlement.failureStatus
            after.failureUpstream = settlement.attempts.last?.upstream ?? after.failureUpstream
        }
        if let answer = settlement.answer {
            after.hasAnswer = true
            after.hasAnswerBody = answer.body != .expunged
        }
        if after.machine.state.isTerminal, settlement.dropsBody || after.dropsContent {
            after.hasBody = false
        }
        var change = FleetChange(row, after)
        change.settled = settlement.token.number
        change.attempts = settlement.attempts
        change.answer = settlement.answer
        return change
    }

    func begin(_ next: NextAttempt) async throws(StoreError) -> Bool {
        guard let row = try await held(next.token) else { return false }
        let changes = try await change([row]) { row, _ in
            var after = row.standing
            let number = next.token.number
            if next.isResend {
                return after.machine.resend(token: number) ? FleetChange(row, after) : nil
            }
            let isBegun = after.machine.begin(
                token: number,
                BegunAttempt(upstream: next.upstream, beganAt: self.now),
                attempts: UInt32(clamping: next.earlier.count),
                spent: UInt32(clamping: next.earlier.count { $0.isSpent }),
                kind: next.earlier.last?.failure?.kind
            )
            guard isBegun else { return nil }
            if let last = next.earlier.last {
                after.machine.failureStatus = last.status
                if last.failure != nil { after.failureUpstream = last.upstream }
            }
            var change = FleetChange(row, after)
            change.attempts = next.earlier
            return change
        }
        guard let change = changes.first else { return false }
        running[change.before.seq] = change.row
        return true
    }

    /// Nobody waited any more for a job that was accepted: it ends, or waits if it is to stay.
    func giveUp(_ job: NewJob, _ result: EnqueueResult) async {
        do throws(StoreError) {
            guard let row = try await row(job.record.id) else { return }
            let changes = try await change([row]) { row, _ in
                var after = row.standing
                let isChanged =
                    if case .running(let token) = result {
                        after.machine.giveUp(token: token.number, stays: job.staysGivenUp, now: self.now)
                    } else {
                        !job.staysGivenUp && after.machine.cancel(now: self.now)
                    }
                return isChanged ? FleetChange(row, after) : nil
            }
            running[row.seq] = nil
            let ended = changes.filter { $0.after.machine.state.isTerminal }
            if !ended.isEmpty { events.ended(ended.map { $0.row.report() }) }
        } catch {
            // The claim is given back by the next look at claims that nobody holds.
            mayHoldUnknown = true
        }
    }

    /// Makes changes, one a job; those that met another change are decided anew on what is there now.
    ///
    /// - Returns: the changes that were made.
    func change(
        _ rows: [FleetRow],
        _ decide: (FleetRow, _ isBlocked: Bool) -> FleetChange?
    ) async throws(StoreError) -> [FleetChange] {
        let bound = rows.filter { !$0.scopes.isEmpty }
        var made: [FleetChange] = []
        if !bound.isEmpty {
            do throws(PostgresError) { made += try await changeInTurn(bound, decide) } catch {
                throw StoreError("change jobs", error)
            }
        }
        var left = rows.filter { $0.scopes.isEmpty }
        for _ in 0..<Self.tries where !left.isEmpty {
            let changes = left.compactMap { decide($0, false) }
            guard !changes.isEmpty else { break }
            let applied = try await make(changes)
            made += applied
            let done = Set(applied.map(\.before.seq))
            let missed = changes.filter { !done.contains($0.before.seq) }
            left = missed.isEmpty ? [] : try await self.rows(missed.map(\.before))
            // A reply that was lost: the change that stands there may be this one.
            for row in left {
                if let own = missed.first(where: { $0.before.seq == row.seq }), own.row.n == row.n,
                    own.after == row.standing
                {
                    made.append(own)
                    left.removeAll { $0.seq == row.seq }
                }
            }
        }
        if !made.isEmpty { events.changed() }
        return made
    }

    /// The statements that make changes, and take out of the rows what has no right to be there after them.
    func statementsToChange(_ changes: [FleetChange]) -> [PostgresStatement] {
        [statements.change(changes, ready: readyHead, tally: tallyHead, by: node, at: now)]
            + statements.erasures(of: changes)
    }

    private func make(_ changes: [FleetChange]) async throws(StoreError) -> [FleetChange] {
        let sent = steady
        let results = try await round("change jobs", statementsToChange(changes))
        facts.commits += 1
        var made: Set<Int64> = []
        for row in 0..<results[0].count {
            observe(results[0].int64(row, 2), sent: sent)
            if let seq = results[0].int64(row, 1) { made.insert(seq) }
        }
        let applied = changes.filter { made.contains($0.before.seq) }
        var fresh: [String: FreshWork] = [:]
        for change in applied { note(change.row, &fresh) }
        if !fresh.isEmpty { events.ready(fresh) }
        return applied
    }
}
