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

    func offer(_ pending: PendingSettlement) {
        do throws(StoreError) { try checkOpen() } catch { return pending.told(.failure(error)) }
        settling.add(pending)
        guard !settling.isWorked else { return }
        settling.isWorked = true
        spawn { await $0.settleAll() }
    }

    private func settleAll() async {
        while !settling.isEmpty {
            let batch = settling.take(Self.batch, within: batchBytes) { pending in
                Int(clamping: pending.settlement.answer?.body.length ?? 0)
            }
            let answers = await settle(batch.map(\.settlement))
            for (pending, answer) in zip(batch, answers) { pending.told(answer) }
        }
        settling.isWorked = false
    }

    private func settle(_ settlements: [Settlement]) async -> [Result<Settlement.Answer, StoreError>] {
        var byToken: [UInt64: Settlement] = [:]
        var rows: [FleetRow] = []
        var answers: [UInt64: Result<Settlement.Answer, StoreError>] = [:]
        // Of two of one claim the second finds it settled.
        let isFirst = settlements.map { settlement in
            guard byToken[settlement.token.number] == nil else { return false }
            byToken[settlement.token.number] = settlement
            return true
        }
        for settlement in byToken.values {
            do throws(StoreError) {
                if let row = try await held(settlement.token) { rows.append(row) }
            } catch { answers[settlement.token.number] = .failure(error) }
        }
        do throws(StoreError) {
            let made = try await changeEach(rows) { row, _ in
                if let token = row.settled, byToken[token] != nil, self.doubtful.contains(token) {
                    // Done already: the reply to it was lost.
                    answers[token] = .success(.applied(row.standing.machine.state, row.standing.machine.end))
                    self.running[row.seq] = nil
                    return nil
                }
                return byToken[row.standing.machine.token].flatMap { self.settled(row, by: $0) }
            }
            for change in made.changes {
                let machine = change.after.machine
                running[change.before.seq] = nil
                answers[change.before.standing.machine.token] = .success(.applied(machine.state, machine.end))
            }
            for (row, error) in made.refused { answers[row.standing.machine.token] = .failure(error) }
            facts.operations += UInt64(made.changes.count)
        } catch {
            for token in byToken.keys where answers[token] == nil { answers[token] = .failure(error) }
        }
        for (token, settlement) in byToken {
            switch answers[token] {
            case .failure?: doubtful.insert(token)
            case .success?: doubtful.remove(token)
            case nil:
                doubtful.remove(token)
                await keepLate(settlement)
            }
        }
        return zip(settlements, isFirst)
            .map { $1 ? answers[$0.token.number] ?? .success(.stale) : .success(.stale) }
    }

    /// The claimed job as it is known here, or in the database where this process does not know it.
    private func held(_ token: ClaimToken) async throws(StoreError) -> FleetRow? {
        if let row = running[token.position], row.standing.machine.token == token.number { return row }
        guard let row = try await row(token.id),
            row.standing.machine.token == token.number || row.settled == token.number
        else { return nil }
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
            isSettled: settlement.isSettled,
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

    /// Keeps what became of telling an upstream to stop the operation of a cancelled job.
    func note(_ attempt: Attempt, of id: JobID) async throws(StoreError) -> Bool {
        guard let row = try await row(id) else { return false }
        let changes = try await change([row]) { row, _ in
            var after = row.standing
            guard after.machine.note(number: attempt.number) else { return nil }
            var change = FleetChange(row, after)
            change.attempts = [attempt]
            return change
        }
        return !changes.isEmpty
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
            guard case .running(let token) = result else { return }
            running[token.position] = nil
            let number = Int64(bitPattern: token.number)
            doubts.add([token.id], number...number, from: token.position, arrival: arrival)
        }
    }

    /// The statements that make changes, and take out of the rows what has no right to be there after them.
    func statementsToChange(_ changes: [FleetChange]) -> [PostgresStatement] {
        statements.change(changes, heads, by: node, at: now) + statementsToTell(changes)
            + statements.erasures(of: changes)
    }
}
