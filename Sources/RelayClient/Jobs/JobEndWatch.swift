import Synchronization

/// Follows jobs by the relay's events, and looks at each when it is named and when an event says that it has ended.
final class JobEndWatch: Sendable {
    private struct State {
        /// Jobs that are not over, as far as is known, with the names under which they were asked for.
        var followed: [String: [String]] = [:]
        var isSourceOver = false
    }

    /// A job to look at.
    private struct Look: Sendable {
        var id: String
        /// Whether an event said that it has ended: its document may come a moment later.
        var hasEnded: Bool
    }

    /// Jobs that are followed, or over and not taken, at once.
    private static let window = 1024
    /// Looks at once.
    private static let workers = 4

    let ends: AsyncThrowingStream<JobEnd, any Error>
    private let endings: AsyncThrowingStream<JobEnd, any Error>.Continuation
    private let capacity: AsyncStream<Void>.Continuation
    private let looks: AsyncStream<Look>.Continuation
    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init<IDs: AsyncSequence & Sendable>(_ client: RelayClient, _ ids: IDs) where IDs.Element == String {
        (ends, endings) = AsyncThrowingStream.makeStream()
        let (rooms, room) = AsyncStream<Void>.makeStream()
        let (queue, looks) = AsyncStream<Look>.makeStream()
        self.capacity = room
        self.looks = looks
        for _ in 0..<JobEndWatch.window { room.yield() }
        let started = Task { [self] in
            await withTaskGroup(of: Void.self) { group in
                let (connections, connected) = AsyncStream<Void>.makeStream()
                group.addTask { await self.watch(client, connected) }
                group.addTask {
                    // Looked at before the events are listened to, a job could end unseen in between.
                    var first = connections.makeAsyncIterator()
                    guard await first.next() != nil else { return }
                    await self.read(ids, rooms)
                }
                group.addTask { await self.look(queue, client) }
                // The looks end with the last job; the events have no end of their own.
                for await _ in group where self.isOver { group.cancelAll() }
            }
            endings.finish()
        }
        task.withLock { $0 = started }
    }

    func cancel() {
        task.withLock { $0 }?.cancel()
        looks.finish()
        capacity.finish()
    }

    /// Somebody has taken an end: there is room for another job.
    func wasTaken() { capacity.yield() }

    private var isOver: Bool {
        state.withLock { $0.isSourceOver && $0.followed.isEmpty } || Task.isCancelled
    }

    private func fail(_ error: any Error) {
        endings.finish(throwing: error)
        cancel()
    }
}

extension JobEndWatch {
    /// Listens to the relay until the task is cancelled.
    private func watch(_ client: RelayClient, _ connected: AsyncStream<Void>.Continuation) async {
        defer { connected.finish() }
        var reader = EventReader(client: client, after: nil)
        do throws(RelayClientError) {
            while true {
                switch try await reader.next() {
                case .connected:
                    connected.yield()
                    lookAtAll()
                case .notice(.gap): lookAtAll()
                case .notice(.event(let event)):
                    guard let id = event.job, JobEndWatch.isEnd(event.type) else { continue }
                    let isFollowed = state.withLock { $0.followed[id] != nil }
                    if isFollowed { looks.yield(Look(id: id, hasEnded: true)) }
                }
            }
        } catch {
            if error.code != .cancelled { fail(error) }
        }
    }

    /// Whether a job is over with this event.
    private static func isEnd(_ type: String) -> Bool {
        switch type {
        case "waystation.job.succeeded", "waystation.job.dead", "waystation.job.cancelled",
            "waystation.job.expired":
            true
        default: false
        }
    }

    private func lookAtAll() {
        let all = state.withLock { Array($0.followed.keys) }
        for id in all { looks.yield(Look(id: id, hasEnded: false)) }
    }

    private func read<IDs: AsyncSequence & Sendable>(_ ids: IDs, _ rooms: AsyncStream<Void>) async
    where IDs.Element == String {
        var places = rooms.makeAsyncIterator()
        do {
            for try await name in ids {
                guard await places.next() != nil else { return }
                let id = name.uppercased()
                state.withLock { $0.followed[id, default: []].append(name) }
                looks.yield(Look(id: id, hasEnded: false))
            }
        } catch {
            return fail(error)
        }
        let isOver = state.withLock { state in
            state.isSourceOver = true
            return state.followed.isEmpty
        }
        if isOver { looks.finish() }
    }

    private func look(_ queue: AsyncStream<Look>, _ client: RelayClient) async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await look in queue {
                if running == JobEndWatch.workers {
                    await group.next()
                    running -= 1
                }
                running += 1
                group.addTask { await self.look(look, client) }
            }
        }
    }

    private func look(_ look: Look, _ client: RelayClient) async {
        var patience = ReconnectAllowance(client.clock)
        // The events have reached the relay before.
        patience.wasAnswered()
        while true {
            do throws(RelayClientError) {
                let job = try await client.look(at: look.id, waiting: look.hasEnded ? .seconds(5) : nil)
                if job.state.isOver { end(look.id, .success(job)) }
                return
            } catch {
                guard patience.forgives(error) else {
                    if error.code != .cancelled { end(look.id, .failure(error)) }
                    return
                }
            }
            do throws(RelayClientError) { try await patience.sleep() } catch { return }
        }
    }

    private func end(_ id: String, _ result: Result<Job, RelayClientError>) {
        let (names, isOver) = state.withLock { state in
            (state.followed.removeValue(forKey: id) ?? [], state.isSourceOver && state.followed.isEmpty)
        }
        for name in names { endings.yield(JobEnd(id: name, result: result)) }
        if isOver { looks.finish() }
    }
}
