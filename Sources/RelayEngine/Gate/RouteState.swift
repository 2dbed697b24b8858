package import RelayBase
package import RelayCore
package import RelayRoute
import Synchronization

/// The state that the loops share about one route: its permits, its figures and its pause.
///
/// It belongs to the route's name and outlives a reload, which only moves its limits.
package final class RouteState: Sendable {
    fileprivate struct State {
        var machine: ConcurrencyMachine
        var network = NetworkQueue()
        var waiters: [UInt64: Waiter] = [:]
        var nextTicket: UInt64 = 0
        /// How answers are ended that stream, where another caller's request waits.
        fileprivate var streams: [UInt64: @Sendable () -> Void] = [:]
        var pause: PauseInForce?
        var traffic: RouteTraffic
        /// The most that were with the upstream, and that waited, since the running minute of the history began.
        fileprivate var peaks = (inFlight: 0, pending: 0)
    }

    fileprivate enum Waiter {
        /// In the queue. → `waiting`, `admitted`
        case queued
        /// Somebody waits for it. → `admitted`
        case waiting(CheckedContinuation<Void, Never>)
        /// It holds a permit that nobody has taken yet.
        case admitted
    }

    /// The part that is told of a window's growth, and must not keep the route alive: a weak reference would make every
    /// other one to it dearer.
    fileprivate final class Core: Sendable {
        let state: Mutex<State>

        init(_ state: consuming State) { self.state = Mutex(state) }
    }

    private let core: Core
    package let meter: RouteMeter
    /// Whether there may be a pause to look at.
    private let mayBePaused = Atomic<Bool>(false)
    /// Answers that are on their way.
    private let streamCount = Atomic<Int>(0)

    /// `shards` are those of `RouteMeter`.
    package init(
        _ limit: ConcurrencyLimit = ConcurrencyLimit(),
        _ traffic: RouteTraffic = RouteTraffic(),
        shards: Int = 1
    ) {
        meter = RouteMeter(shards: shards)
        core = Core(
            State(
                machine: ConcurrencyMachine(limit: limit.maxRequests, maxPending: limit.maxPendingRequests),
                traffic: traffic
            )
        )
        core.listen(to: traffic)
    }

    deinit { core.state.withLock { $0.traffic }.forgetGate() }

    package var figures: RouteFigures { meter.figures }

    /// How the route is doing; `wall` is in milliseconds since 1970 UTC.
    package func health(at wall: Int64) -> RouteHealth { meter.health(at: wall) }

    package var load: (inFlight: Int, pending: Int) {
        core.state.withLock { ($0.machine.inFlight, $0.machine.pending) }
    }

    /// The most that were with the upstream, and that waited, in the running minute; with `endsMinute` another begins.
    func peaks(endsMinute: Bool) -> (inFlight: Int, pending: Int) {
        core.state.withLock { state in
            defer { if endsMinute { state.peaks = (state.machine.underWay, state.machine.pending) } }
            return state.peaks
        }
    }

    /// As `ConcurrencyMachine` has it.
    func isCrowded(by caller: FairQueue.Caller, atLeast count: Int) -> Bool {
        core.state.withLock { $0.machine.isCrowded(by: caller, atLeast: count) }
    }

    /// The numbers of requests that are with the upstream, and that wait for a permit.
    package var underWay: (sent: Int, pending: Int) {
        core.state.withLock { ($0.machine.underWay, $0.machine.pending) }
    }

    /// The user who has most requests waiting.
    package var crowd: (user: UInt32, count: Int)? { core.state.withLock { $0.machine.crowd } }
}

// Requests that wait for the network.
extension RouteState {
    /// A part of the room for that, given up at its end.
    final class NetworkWait: Sendable {
        private let state: RouteState
        private let caller: FairQueue.Caller

        fileprivate init(_ state: RouteState, _ caller: FairQueue.Caller) {
            (self.state, self.caller) = (state, caller)
        }

        deinit { state.core.state.withLock { $0.network.left(caller) } }
    }

    /// - Returns: nil where there is no room, of which each caller has its share.
    func waitForNetwork(_ caller: FairQueue.Caller) -> NetworkWait? {
        let hasRoom = core.state.withLock { state in
            state.network.joined(caller, room: state.machine.maxPending)
        }
        return hasRoom ? NetworkWait(self, caller) : nil
    }
}

// The permits to be with the upstream.
extension RouteState {
    /// The right to be with the upstream, given back at its end.
    package struct Permit: ~Copyable, Sendable {
        fileprivate let state: RouteState

        fileprivate init(_ state: RouteState) { self.state = state }

        deinit { state.giveBack() }
    }

    /// The answer to who asks for a permit.
    package enum Entry: ~Copyable {
        case permitted(Permit)
        /// There is none now.
        case queued(PermitTicket)
        /// Nor room to wait for one.
        case full
    }

    /// A place in the queue, given up at its end.
    package final class PermitTicket: Sendable {
        private let state: RouteState
        private let id: UInt64

        fileprivate init(_ state: RouteState, _ id: UInt64) {
            self.state = state
            self.id = id
        }

        deinit { _ = take() }

        /// Returns when its permit is there, or when the task is cancelled.
        package func wait() async { await state.wait(id) }

        /// Whether its permit is there.
        var isAdmitted: Bool { state.isAdmitted(id) }

        /// The permit, if it is there; otherwise the turn is over.
        package func take() -> Permit? { state.take(id) ? Permit(state) : nil }
    }

    /// Asks for a permit; `urgency` is that of RFC 9218, and `streams` says whether the answer will, as far as is known.
    package func enter(
        _ caller: FairQueue.Caller = .unknown,
        urgency: UInt8 = 3,
        streams: Bool = false,
        _ now: Instant = Instant(nanoseconds: 0)
    ) -> Entry {
        let (arrival, id) = arrive(caller, urgency, streams, now)
        return switch arrival {
        case .admit: .permitted(Permit(self))
        case .wait: .queued(PermitTicket(self, id))
        case .refuse: .full
        }
    }

    private func arrive(
        _ caller: FairQueue.Caller,
        _ urgency: UInt8,
        _ streams: Bool,
        _ now: Instant
    ) -> (ConcurrencyMachine.Arrival, UInt64) {
        let (arrival, id, end) = core.state.withLock { state in
            state.nextTicket += 1
            state.machine.width = state.traffic.width
            let id = state.nextTicket
            let arrival =
                streams || state.machine.isCautious(of: caller, now)
                ? state.machine.arrived(id, stream: caller, urgency: urgency, now)
                : state.machine.arrived(id, caller, urgency: urgency)
            state.noteFullness()
            state.notePeak()
            guard case .wait = arrival else { return (arrival, id, nil as (@Sendable () -> Void)?) }
            state.peaks.pending = max(state.peaks.pending, state.machine.pending)
            state.waiters[id] = .queued
            return (arrival, id, state.recall(for: caller, now))
        }
        end?()
        return (arrival, id)
    }

    /// A permit to look for kept jobs with, when its turn among the requests has come.
    ///
    /// - Returns: nil when the task is cancelled first.
    func acquireForClaim(_ now: Instant) async -> ClaimPermits? {
        switch arrive(.keptJobs, 3, false, now) {
        case (.admit, _): return ClaimPermits(self)
        case (.wait, let id):
            await wait(id)
            return take(id) ? ClaimPermits(self) : nil
        case (.refuse, _): return nil
        }
    }

    /// A permit for a job that is on its way to disk, if one is free.
    func tryAcquireForAccept() -> ClaimPermits? {
        core.state.withLock { $0.machine.offer() } ? ClaimPermits(self) : nil
    }

    /// A reload may have changed the limits: whoever waits for a permit there is now gets it.
    package func resize(_ limit: ConcurrencyLimit, _ traffic: RouteTraffic) {
        let before = core.state.withLock { state in
            defer { state.traffic = traffic }
            return state.traffic
        }
        core.admit { $0.resized(limit: limit.maxRequests, maxPending: limit.maxPendingRequests) }
        if before !== traffic { before.forgetGate() }
        core.listen(to: traffic)
    }

    private func giveBack(isClaim: Bool = false) { core.admit { $0.left(isClaim: isClaim) } }

    private func wait(_ id: UInt64) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = core.state.withLock { state in
                    guard !Task.isCancelled, case .queued = state.waiters[id] else { return true }
                    state.waiters[id] = .waiting(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = core.state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard case .waiting(let continuation) = state.waiters[id] else { return nil }
                state.waiters[id] = .queued
                return continuation
            }
            waiter?.resume()
        }
    }

    private func isAdmitted(_ id: UInt64) -> Bool {
        core.state.withLock { if case .admitted? = $0.waiters[id] { true } else { false } }
    }

    private func take(_ id: UInt64) -> Bool {
        core.state.withLock { state in
            switch state.waiters.removeValue(forKey: id) {
            case .admitted: return true
            case .queued, .waiting:
                _ = state.machine.gaveUp(id)
                return false
            case nil: return false
            }
        }
    }
}

// The requests that the window's growth lets in, since no permit has to come back then.
extension RouteState.Core {
    fileprivate func listen(to traffic: RouteTraffic) {
        traffic.whenWider { self.admit { $0.admitted() } }
        traffic.whenPermitIsAsked { self.hasPermit }
        // It may have grown before anybody listened.
        admit { $0.admitted() }
    }

    private var hasPermit: Bool {
        state.withLock { state in
            state.machine.width = state.traffic.width
            return state.machine.hasPermit
        }
    }

    /// Lets in those that the machine names.
    fileprivate func admit(_ next: (inout ConcurrencyMachine) -> [UInt64]) {
        let admitted = state.withLock { state in
            state.machine.width = state.traffic.width
            let next = next(&state.machine)
            state.noteFullness()
            state.notePeak()
            return next.compactMap { state.admit($0) }
        }
        for waiter in admitted { waiter.resume() }
    }
}

extension RouteState.State {
    /// A window that is less than the limit grows when there is no permit left.
    fileprivate mutating func noteFullness() {
        let isFull = machine.isNarrowed && machine.isFull
        if traffic.isFull != isFull { traffic.isFull = isFull }
    }

    fileprivate mutating func notePeak() {
        if machine.underWay > peaks.inFlight { peaks.inFlight = machine.underWay }
    }

    /// The turn has come: who waits for it, to be woken.
    fileprivate mutating func admit(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        let waiter = waiters.updateValue(.admitted, forKey: id)
        if case .waiting(let continuation)? = waiter { return continuation }
        return nil
    }
}

// Whether it sends anything.
extension RouteState {
    /// Whether a pause has not been ended yet.
    var isPaused: Bool { mayBePaused.load(ordering: .relaxed) }

    /// Nil when the route is not paused at that moment.
    func pause(at now: Instant) -> PauseInForce? {
        guard isPaused, let pause = core.state.withLock({ $0.pause }), !pause.isOver(now) else { return nil }
        return pause
    }

    func set(_ pause: PauseInForce?) {
        core.state.withLock { state in
            state.pause = pause
            mayBePaused.store(pause != nil, ordering: .relaxed)
        }
    }
}

// Answers that are on their way.
extension RouteState {
    /// An answer that is on its way, until its end.
    package final class Stream: Sendable {
        private let state: RouteState
        private let id: UInt64
        private let time: any TimeSource

        fileprivate init(_ state: RouteState, _ id: UInt64, _ time: any TimeSource) {
            self.state = state
            self.id = id
            self.time = time
        }

        deinit { state.streamEnded(id, time.now()) }
    }

    /// The head of an answer to that caller is out, and the rest will follow.
    ///
    /// `isEndless` says that by its head it has no end of its own; it is told to `end` on any thread, once, where another
    /// caller needs its permit.
    package func streams(
        to caller: FairQueue.Caller,
        isEndless: Bool,
        _ time: any TimeSource,
        end: @escaping @Sendable () -> Void
    ) -> Stream {
        let (now, id) = (time.now(), core.state.withLock { $0.takeTicket() })
        let ends = core.state.withLock { state in
            state.machine.streamBegan(id, caller, isEndless: isEndless, now)
            state.streams[id] = end
            streamCount.add(1, ordering: .relaxed)
            return state.recallForAnybody(now)
        }
        ends?()
        return Stream(self, id, time)
    }

    private func streamEnded(_ id: UInt64, _ now: Instant) {
        core.state.withLock { $0.streams[id] = nil }
        streamCount.subtract(1, ordering: .relaxed)
        core.admit { $0.streamEnded(id, now) }
    }

    /// Whether any answer is on its way.
    var hasStreams: Bool { streamCount.load(ordering: .relaxed) > 0 }

    /// A request of the caller still waits: an answer that has begun to stream meanwhile may have to end.
    func waits(_ caller: FairQueue.Caller, _ now: Instant) {
        core.state.withLock { $0.recall(for: caller, now) }?()
    }

    /// When to look at that again; nil where no answer will be one too many.
    func nextRecall(_ now: Instant) -> Instant? { core.state.withLock { $0.machine.nextRecall(now) } }

    /// Whether the caller has as many permits with streams as it may.
    func hasItsStreams(_ caller: FairQueue.Caller, _ now: Instant) -> Bool {
        core.state.withLock { $0.machine.hasItsStreams(caller, now) }
    }
}

extension RouteState.State {
    fileprivate mutating func takeTicket() -> UInt64 {
        nextTicket += 1
        return nextTicket
    }

    /// How the answer is ended that has to be, where a request of that caller waits.
    fileprivate mutating func recall(
        for caller: FairQueue.Caller,
        _ now: Instant
    ) -> (@Sendable () -> Void)? {
        machine.recall(for: caller, now).flatMap { streams.removeValue(forKey: $0) }
    }

    /// The same where a request of anybody's waits.
    fileprivate mutating func recallForAnybody(_ now: Instant) -> (@Sendable () -> Void)? {
        machine.recallForAnybody(now).flatMap { streams.removeValue(forKey: $0) }
    }
}

extension RouteState {
    /// Permits of one route to look for as many kept jobs with, given back at their end but for those that were taken out.
    struct ClaimPermits: ~Copyable {
        private let state: RouteState
        private(set) var count = 1

        fileprivate init(_ state: RouteState) { self.state = state }

        /// As many more as are free and wanted.
        mutating func add(atMost more: Int) {
            count += state.core.state.withLock { state in
                let taken = state.machine.take(more)
                state.noteFullness()
                return taken
            }
        }

        /// One of them, for a job that was found; nil when there are no more.
        mutating func take() -> Permit? {
            guard count > 0 else { return nil }
            count -= 1
            state.core.state.withLock { state in
                state.machine.found()
                state.notePeak()
            }
            return Permit(state)
        }

        deinit { for _ in 0..<count { state.giveBack(isClaim: true) } }
    }
}

// Requests that are passed through.
extension RouteState {
    /// Takes a permit where one is free and nobody waits; to be given back plainly, or adopted.
    package func enterPlainly() -> Bool { core.state.withLock { $0.enterPlainly() } }

    package var isPausedNow: Bool { isPaused }

    package func releasePlainly() {
        if core.state.withLock({ $0.releasePlainly() }) { return }
        giveBack()
    }

    /// The permit that was taken plainly.
    func adopted() -> Permit { Permit(self) }
}

extension RouteState.State {
    fileprivate mutating func enterPlainly() -> Bool {
        machine.width = traffic.width
        guard machine.arrivedPlainly() else { return false }
        nextTicket += 1
        noteFullness()
        notePeak()
        return true
    }

    /// - Returns: false where somebody may have to be let in; nothing was done then.
    fileprivate mutating func releasePlainly() -> Bool {
        machine.width = traffic.width
        guard machine.leftPlainly() else { return false }
        noteFullness()
        return true
    }
}

extension RouteTraffic {
    fileprivate func forgetGate() {
        whenWider(nil)
        whenPermitIsAsked(nil)
    }
}
