import RelayBase
import RelayCore
package import RelayJobs

/// The latest moments by which the figures of a route are read, in few bytes: an operator's acts, and what breakers did.
package struct RouteMarks: Sendable {
    /// Marks of a route, and names of upstreams in them.
    static let limit = 24

    package enum State: String, CaseIterable, Sendable {
        case open, closed, auto
    }

    package struct Mark: Sendable {
        /// In seconds since 1970 UTC.
        package let at: UInt32
        /// The user who asked for it.
        package let by: UInt32?
        package let event: EventKind
        /// Of a breaker.
        package let state: State?
        /// Its number among the names, or none of them.
        fileprivate let upstream: UInt8
    }

    private(set) var marks: [Mark] = []
    private(set) var upstreams: [String] = []

    init() {}

    /// Takes up an event that is about the route itself.
    mutating func heard(_ event: JobEvent, _ kind: EventKind, at wall: Int64) {
        var (upstream, state, by): (String?, State?, Principal?)
        switch event {
        case .routePaused(_, let pause): by = pause.by
        case .routeResumed(_, let user): by = user
        case .routeShut: break
        case .breakerChanged(_, let change):
            (upstream, state) = (change.upstream, change.probeIn == nil ? .closed : .open)
        case .notice(_, _, let act?):
            (upstream, state, by) = (act.upstream, act.state.flatMap(State.init), act.by)
        default: return
        }
        var number = UInt8.max
        if let upstream { number = self.number(of: upstream) }
        // A breaker that stays open after a probe has not moved.
        if kind == .routeBreaker, let last = marks.last(where: { $0.upstream == number }),
            last.event == kind, last.state == state
        {
            return
        }
        let at = UInt32(clamping: wall / 1_000)
        let mark = Mark(at: at, by: by?.user, event: kind, state: state, upstream: number)
        marks = marks.suffix(RouteMarks.limit - 1) + [mark]
    }

    /// A route whose upstreams have had other names that often begins anew.
    private mutating func number(of upstream: String) -> UInt8 {
        if let known = upstreams.firstIndex(of: upstream) { return UInt8(known) }
        if upstreams.count == RouteMarks.limit { self = RouteMarks() }
        upstreams.append(upstream)
        return UInt8(upstreams.count - 1)
    }

    /// In their order, each with the name of the upstream it is about.
    package var told: [(mark: Mark, upstream: String?)] {
        marks.map { ($0, $0.upstream == .max ? nil : upstreams[Int($0.upstream)]) }
    }
}
