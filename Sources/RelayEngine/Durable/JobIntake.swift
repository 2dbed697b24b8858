package import RelayBase
package import RelayCore
import RelayInterface
import RelayJobs
import RelayRoute

/// An admitted job and its body, in memory.
package struct KeptJob: Sendable {
    let admission: Admission
    let body: [UInt8]

    package init(_ admission: Admission, _ body: [UInt8]) { (self.admission, self.body) = (admission, body) }
}

/// A body of which a copy may count as its caller's.
package protocol CopiedBody: BodySource {
    /// Whether the copy is there, by which the body counts.
    var hasCopy: Bool { get }
}

/// Hands admitted jobs over for keeping.
package struct JobIntake {
    let durable: DurableJobs
    let ports: RelayPorts
    /// Of a request that was tried before it is kept.
    var past: PriorAttempts?
    /// Whether bodies in memory count as their caller's by what holds them.
    private let countsBytes: Bool

    package init(_ durable: DurableJobs, _ ports: RelayPorts, countsBytes: Bool = true) {
        self.durable = durable
        self.ports = ports
        self.countsBytes = countsBytes
    }

    /// Keeps a job whose body is in memory: what is too large for a record goes beside it.
    ///
    /// - Throws: what spooling and accepting throw.
    package func keep(_ admission: Admission, _ bytes: [UInt8]) async throws(Problem) -> Acceptance.Accepted {
        let (body, deadline) = try await body(admission, bytes)
        return try await durable.acceptance.accept(admission, body: body, deadline, past: past)
    }

    /// The same without a task; nil where it needs one, and nothing is done then.
    package func keepPromptly(
        _ admission: Admission,
        _ bytes: [UInt8],
        _ receiver: @escaping PromptAcceptance.Receiver
    ) -> PromptAcceptance? {
        guard past == nil, bytes.count <= admission.snapshot.settings.replayBuffer else { return nil }
        return durable.acceptance.acceptPromptly(admission, bytes, deadline(admission), receiver)
    }

    /// Keeps jobs whose bodies are in memory in one commit; one that is refused touches no other.
    package func keep(
        _ jobs: [Result<KeptJob, Problem>]
    ) async -> [Result<Acceptance.Accepted, Problem>] {
        var candidates: [Result<Acceptance.Candidate, Problem>] = []
        for job in jobs {
            let candidate = await Result { () async throws(Problem) in
                let job = try job.get()
                let (body, deadline) = try await body(job.admission, job.body)
                return Acceptance.Candidate(admission: job.admission, body: body, deadline: deadline)
            }
            candidates.append(candidate)
        }
        var accepted = await durable.acceptance.accept(candidates.compactMap { try? $0.get() })[...]
        return candidates.map { candidate in
            if case .failure(let problem) = candidate { return .failure(problem) }
            return accepted.removeFirst()
        }
    }

    private func body(
        _ admission: Admission,
        _ bytes: [UInt8]
    ) async throws(Problem) -> (body: StoredBody, deadline: StorageDeadline) {
        guard bytes.count > admission.snapshot.settings.replayBuffer else {
            return (.bytes(bytes), deadline(admission))
        }
        var rest = bytes[...]
        return try await spool(admission, isCounted: countsBytes) { () throws(Problem) in
            defer { rest = rest.dropFirst(JobIntake.pieceSize) }
            return rest.isEmpty ? nil : Array(rest.prefix(JobIntake.pieceSize))
        }
    }

    /// Keeps a job whose body still arrives: each piece is written before the next is read.
    ///
    /// - Throws: what spooling and accepting throw, or what `broken` makes of a body that does not come.
    package func keep(
        _ admission: Admission,
        _ source: any BodySource,
        broken: (Failure) -> Problem
    ) async throws(Problem) -> Acceptance.Accepted {
        do throws(Problem) {
            let copied = source as? any CopiedBody
            let isCounted = { copied?.hasCopy ?? false }
            let (body, deadline) = try await spool(admission, isCounted: isCounted()) {
                () async throws(Problem) in
                do throws(Failure) {
                    return try await source.next()
                } catch {
                    throw broken(error)
                }
            }
            return try await durable.acceptance.accept(admission, body: body, deadline, past: past)
        } catch {
            source.cancel()
            throw error
        }
    }

    private static let pieceSize = 65_536

    /// A caller that gets an answer anyway waits for the disk as long as its request may take, or a second.
    private func deadline(_ admission: Admission) -> StorageDeadline {
        guard let past else { return StorageDeadline(ports, admission.context.options) }
        return StorageDeadline(ports, atMost: max(.seconds(1), min(past.timeLeft, .seconds(4))))
    }

    /// The patience left to a caller that has waited since `began`, at least a second: the caller may have taken its
    /// time over the body.
    func deadline(_ admission: Admission, since began: Instant) -> StorageDeadline {
        deadline(admission).left(since: began, atLeast: .seconds(1))
    }

    /// Writes a body beside the records, and tells what is left of the caller's patience.
    ///
    /// While it is counted as its caller's elsewhere, it is not counted a second time.
    private func spool(
        _ admission: Admission,
        isCounted: @autoclosure () -> Bool,
        _ next: () async throws(Problem) -> [UInt8]?
    ) async throws(Problem) -> (body: StoredBody, deadline: StorageDeadline) {
        try await checkDisk(admission)
        var deadline = deadline(admission)
        let spool = try await patiently(admission, &deadline) { [durable] () throws(StoreError) in
            try await durable.store.spool()
        }
        let file: StoredBodyFile
        let (share, limits) = (admission.context.share, admission.snapshot.settings.callers)
        let charge = share.map { CallerBytes($0, 0) }
        var uncounted = 0
        do throws(Problem) {
            while let piece = try await next() {
                uncounted += piece.count
                if let share, let charge, !isCounted() {
                    charge.grow(by: uncounted)
                    uncounted = 0
                    if charge.isOver(limits) { throw Problem(.bytes, of: share, limits) }
                }
                try await patiently(admission, &deadline) { () throws(StoreError) in
                    try await spool.append(piece)
                }
            }
            file = try await patiently(admission, &deadline) { () throws(StoreError) in
                try await spool.finish()
            }
        } catch {
            // One that the disk still holds is given up by its last owner: to do it here would wait for the disk.
            if error.code != .storageStalled { spool.discard() }
            throw error
        }
        return (.file(file), deadline)
    }

    /// Does something with the disk, for as long as the caller is to wait for it in all.
    ///
    /// - Throws: `storage_full`, `storage_failed`, `storage_stalled`.
    private func patiently<Value: Sendable>(
        _ admission: Admission,
        _ deadline: inout StorageDeadline,
        _ work: @escaping @Sendable () async throws(StoreError) -> Value
    ) async throws(Problem) -> Value {
        let route = admission.route.name
        do throws(StoreError) {
            if let value = try await deadline.wait(for: work) { return value }
        } catch {
            guard error.code == .full else { throw Problem(error, route: route) }
            throw durable.acceptance.refuseBody(of: route)
        }
        throw Problem.stalled(route, durable.store)
    }

    /// A body that could not be accepted in the end would be written for nothing.
    private func checkDisk(_ admission: Admission) async throws(Problem) {
        let route = admission.route.name
        let facts = try await durable.store.told(route: route) { store throws(StoreError) in
            try await store.facts()
        }
        if facts.isFull { throw durable.acceptance.refuseBody(of: route) }
    }
}
