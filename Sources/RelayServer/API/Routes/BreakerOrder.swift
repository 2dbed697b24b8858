import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

/// The order of a `PUT /v1/routes/{route}/breaker`, read strictly.
struct BreakerOrder {
    /// Nil leaves the breaker to itself.
    private(set) var order: BreakerMachine.Order?
    /// Nil means every upstream of the route.
    private(set) var upstream: String?
    private(set) var duration: Duration = .seconds(600)

    /// How long it may hold.
    static let durations: ClosedRange<Duration> = .seconds(1) ... .seconds(86_400)
    /// The word that leaves the breaker to itself.
    static let auto = "auto"

    init(_ document: [UInt8]) throws(Problem) {
        let value = try JSONValue(document, as: "the order", or: .badRequest)
        var reader = SubmissionReader()
        var isNamed = false
        reader.members(value, "", ["state", "upstream", "for"]) { reader, name, value in
            switch name {
            case "state":
                guard let word = reader.text(value, "/state") else { return }
                isNamed = true
                order = BreakerMachine.Order(rawValue: word)
                if order == nil, word != BreakerOrder.auto {
                    reader.fail("/state", "the state is open, closed or auto")
                }
            case "upstream": upstream = reader.text(value, "/upstream")
            default: duration = reader.duration(value, "/for", BreakerOrder.durations) ?? duration
            }
        }
        if !isNamed { reader.fail("", "the state is missing: open, closed or auto") }
        try reader.check("the order", or: .badRequest)
    }

    /// Puts it in force.
    ///
    /// - Returns: an event for each upstream.
    /// - Throws: `bad_request` when the route has no breaker, or no such upstream.
    func apply(
        to entry: Snapshot.Entry,
        by principal: Principal?,
        _ now: Instant
    ) throws(Problem) -> [JobEvent] {
        try entry.check(upstream)
        guard entry.route.policy.traffic.breaker.isEnabled else {
            throw Problem(
                .badRequest,
                "the route has no circuit_breaker that could be kept open or closed; pause the route instead"
            )
        }
        let until = order == nil ? now : now.advanced(by: duration)
        let before = entry.memory.traffic.standing(of: entry.route, now).upstreams
        let (state, route) = (order?.rawValue ?? BreakerOrder.auto, entry.route.name)
        let span = order == nil ? "" : " for \(DurationText.text(duration))"
        return before.filter { upstream == nil || upstream == $0.name }.map { before in
            let (name, previous) = (before.name, before.breaker.rawValue)
            entry.memory.traffic.order(order, of: name, entry.route, until: until, now)
            let text = "\(state)\(span); it was \(previous)"
            let act = OperatorAct(
                by: principal,
                route: route,
                "ordered the breaker of upstream \(name) of route \(route) \(text)",
                upstream: name,
                state: state,
                previous: previous
            )
            return .notice(.breakerOrdered, "ordered \(text)", act)
        }
    }
}

extension Snapshot.Entry {
    /// - Throws: `bad_request` for the name of an upstream that the route does not have.
    func check(_ upstream: String?) throws(Problem) {
        let names = route.policy.upstreams.map(\.name)
        guard let upstream, !names.contains(upstream) else { return }
        throw Problem(
            .badRequest,
            "the route has no upstream \"\(upstream.prefix(64))\"",
            didYouMean: nearestWord(to: upstream, among: names)
        )
    }
}
