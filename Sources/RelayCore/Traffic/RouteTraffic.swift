package import RelayBase
package import RelayRoute
import Synchronization

/// The traffic of one route to its upstreams, and the leave that attempts get: shared by all loops, by jobs that are
/// kept and by requests that somebody waits for.
package final class RouteTraffic: Sendable {
    private let state = Mutex(RouteTrafficMachine())
    /// As the window of the upstream in use has it; what the route's permits go by.
    private let present = Atomic<Int>(.max)
    private let onWider = Mutex<(@Sendable () -> Void)?>(nil)
    private let onPermitQuestion = Mutex<(@Sendable () -> Bool)?>(nil)
    /// Whether the route has no permit left.
    private let full = Atomic<Bool>(false)

    package init() {}

    /// How many attempts the upstream that is in use takes at once; `Int.max` where nobody has to care.
    package var width: Int { present.load(ordering: .relaxed) }

    /// Has `body` called, with no lock held, whenever the window has grown; whoever asked before is told no more.
    package func whenWider(_ body: (@Sendable () -> Void)?) { onWider.withLock { $0 = body } }

    /// Has `body` asked, with no lock held, whether no more permits are out than the width and the route's limit allow, and
    /// nobody waits for one.
    package func whenPermitIsAsked(_ body: (@Sendable () -> Bool)?) {
        onPermitQuestion.withLock { $0 = body }
    }

    /// Whether there is room for what has narrowed the width; true where nobody gives permits.
    var hasPermit: Bool { onPermitQuestion.withLock { $0 }?() ?? true }

    /// Whether the route has no permit left, as whoever gives them says: a window grows only then.
    package var isFull: Bool {
        get { full.load(ordering: .relaxed) }
        set { full.store(newValue, ordering: .relaxed) }
    }

    /// How many attempts of kept jobs may begin now, of as many as `most`, and what holds the others back.
    package func capacity(
        _ route: Route,
        _ now: Instant,
        atMost most: Int = .max
    ) -> (count: Int, hold: AttemptDeferral?) {
        if route.isWithoutTraffic { return (most, nil) }
        return state.withLock { $0.capacity(route, now, atMost: most) }
    }

    /// Kept jobs wait until then, for a turn or for an upstream.
    package func keptWait(_ route: Route, until: Instant, _ now: Instant) {
        state.withLock { $0.keptWait(route, until: until, now) }
    }

    /// Whether nothing is known to be wrong with any upstream.
    package var isCalm: Bool { state.withLock { $0.upstreams.allSatisfy(\.isCalm) } }

    /// How it stands.
    package func standing(of route: Route, _ now: Instant) -> RouteStanding {
        state.withLock { $0.standing(of: route, now) }
    }

    /// An operator's word about the breaker of an upstream, for as long as that; nil leaves it to itself again.
    package func order(
        _ order: BreakerMachine.Order?,
        of upstream: String,
        _ route: Route,
        until: Instant,
        _ now: Instant
    ) {
        tell(route, now) { $0.ordered(order, of: upstream, until: until, route, now) }
    }

    /// The hold that such a request would meet now; nil where it would go.
    package func hold(of asked: RequestClass, _ route: Route, _ now: Instant) -> AttemptDeferral? {
        if route.isWithoutTraffic { return nil }
        return state.withLock { $0.hold(of: asked, route, now) }
    }

    /// The hold that has such a request wait for its turn; nil where none does.
    package func wait(of asked: RequestClass, _ route: Route, _ now: Instant) -> AttemptDeferral? {
        if route.isWithoutTraffic { return nil }
        return state.withLock { $0.wait(of: asked, route, now) }
    }

    /// Lifts what upstreams have asked for and what was learnt of them; of one, or of all.
    ///
    /// - Returns: the names of the upstreams of which something was lifted.
    package func clear(
        _ upstream: String?,
        requests: String?,
        _ route: Route,
        _ now: Instant
    ) -> [String] {
        let lifted = tell(route, now) { $0.cleared(upstream, requests: requests, route, now) }
        // Kept jobs that wait may go, whatever the window was.
        onWider.withLock { $0 }?()
        return lifted
    }

    /// Asks whether an attempt may begin now; its end has to be told.
    func grant(
        _ route: Route,
        _ asking: RouteTrafficMachine.Asking,
        of asked: () -> RequestClass? = { nil },
        _ now: Instant
    ) -> RouteTrafficMachine.Answer {
        let isFull = isFull
        return state.withLock { machine in
            let before = machine.inUse
            let answer = machine.grant(route, asking, of: asked, isFull: isFull, now)
            if machine.inUse != before { present.store(machine.width(of: route, now), ordering: .relaxed) }
            return answer
        }
    }

    /// Leave where nothing holds a first attempt back, and nil where there is more to ask.
    func grantCalmly(_ route: Route, _ now: Instant) -> AttemptGrant? {
        let isFull = isFull
        return state.withLock { machine in
            let before = machine.inUse
            guard let grant = machine.grantCalmly(route, isFull: isFull, now) else { return nil }
            if before != 0 { present.store(machine.width(of: route, now), ordering: .relaxed) }
            return grant
        }
    }

    /// An attempt that succeeded at once has ended, and its answer says nothing of the upstream's limits; of its class is
    /// asked only where some requests of the route are lost.
    package func endedPlainly(
        _ grant: AttemptGrant,
        asked: () -> RequestClass?,
        of route: Route,
        random: @autoclosure () -> UInt64,
        _ now: Int64
    ) -> BreakerChange? {
        let now = Instant(nanoseconds: now)
        if state.withLock({ $0.endedCalmly(grant, of: route, now) }) { return nil }
        var word = AttemptFeedback()
        (word.breaker, word.window, word.succeeded) = (.works, .fine, true)
        let random = random()
        return tell(route, now) {
            $0.ended(grant, word, asked: asked, of: route, random: random, now).change
        }
    }

    /// The attempt is given up, and nothing is known of its upstream by it.
    package func endedUnjudged(_ grant: AttemptGrant, of route: Route, random: UInt64, _ now: Int64) {
        let now = Instant(nanoseconds: now)
        _ = tell(route, now) { $0.ended(grant, AttemptFeedback(), of: route, random: random, now) }
    }

    /// The attempt has ended; `random` is uniform in all of `UInt64`.
    ///
    /// - Returns: what has become of the breaker, when it has changed by that, and whose fault a failure is.
    func ended(
        _ grant: AttemptGrant,
        _ word: AttemptFeedback,
        asked: () -> RequestClass? = { nil },
        of route: Route,
        random: @autoclosure () -> UInt64,
        _ now: Instant
    ) -> AttemptVerdict {
        if state.withLock({ $0.endedWell(grant, word, of: route, now) }) { return AttemptVerdict() }
        let random = random()
        return tell(route, now) {
            $0.ended(grant, word, asked: asked, of: route, random: random, now)
        }
    }

    /// The head of an answer is there whose content is still on its way to its caller: the attempt takes no room any more,
    /// and is not over before `answerEnded`.
    ///
    /// A breaker that probes does not wait for that: an answer may go on for hours.
    func answering(
        _ grant: AttemptGrant,
        _ word: AttemptFeedback,
        asked: () -> RequestClass? = { nil },
        of route: Route,
        random: @autoclosure () -> UInt64,
        _ now: Instant
    ) -> BreakerChange? {
        if !grant.isProbe, state.withLock({ $0.endedWell(grant, word, of: route, isWhole: false, now) }) {
            return nil
        }
        var word = word
        if !grant.isProbe { word.breaker = .nothing }
        let random = random()
        return tell(route, now) {
            $0.ended(grant, word, asked: asked, of: route, random: random, now).change
        }
    }

    /// The content of such an answer has come to its end, and its upstream is not to blame.
    ///
    /// - Returns: false, having done nothing, where that changes what is known of the upstream: `answerEnded` has to be told.
    func answerEndedWell(_ grant: AttemptGrant, _ now: Instant) -> Bool {
        state.withLock { $0.answerEndedWell(grant, now) }
    }

    /// The same, however it ended.
    func answerEnded(
        _ grant: AttemptGrant,
        _ word: AttemptFeedback,
        asked: () -> RequestClass? = { nil },
        of route: Route,
        random: @autoclosure () -> UInt64,
        _ now: Instant
    ) -> BreakerChange? {
        let random = random()
        return tell(route, now) {
            $0.answerEnded(grant, word, asked: asked, of: route, random: random, now)
        }
    }

    /// Asks, or tells, what is known of the route's traffic.
    func tell<Value: Sendable>(
        _ route: Route,
        _ now: Instant,
        _ body: (inout RouteTrafficMachine) -> Value
    ) -> Value {
        let (value, isWider) = state.withLock { machine in
            let value = body(&machine)
            let (before, after) = (width, machine.width(of: machine.route ?? route, now))
            if after != before { present.store(after, ordering: .relaxed) }
            return (value, after > before)
        }
        if isWider { onWider.withLock { $0 }?() }
        return value
    }

    /// Asks, or tells, how long answers took.
    func tellTimes<Value: Sendable>(_ body: (inout HedgeTable) -> Value) -> Value {
        state.withLock { body(&$0.times) }
    }

    /// The route as it is configured from now on, whatever requests of before have to tell.
    package func configured(_ route: Route) {
        state.withLock { machine in
            machine.configured(route)
            present.store(machine.widthWhenConfigured(route), ordering: .relaxed)
        }
    }
}
