package import RelayBase

/// When a request that is late is sent a second time while the first sending goes on, and the first success is the answer.
///
/// The second is sent where 20 answers to requests of the same method, kind of path and size are known, once this one takes
/// longer than that share of the last 200 did. It is sent of idempotent or keyed requests with their content in memory that
/// somebody waits for, takes a permit, a turn of the rate and a part of the retry budget, of which half is left to retries,
/// and never waits for any of them.
public struct Hedging: Sendable, Equatable {
    /// The share of the last answers of that kind that were sooner, in percent: 50 to 99.9.
    public var percentile = 95.0
    /// The least time before the second is sent: 1 ms to 10 min.
    public var least: Duration = .milliseconds(50)
    /// The upstream of the second, by its name; nil sends it where the first went.
    ///
    /// Where that upstream may be sent nothing now it goes where the first went, too.
    public var upstream: String?

    /// The defaults of every property.
    public init() {}
}

extension RoutePolicy {
    /// Why requests could not be hedged as the policy says; nil where they can.
    package var hedgingFault: Refusal? {
        guard let hedging else { return nil }
        if !(50...99.9).contains(hedging.percentile) || hedging.least < .milliseconds(1) {
            return Refusal(
                "hedging is late by no time",
                hint: "choose a percentile of 50 to 99.9, and a least time of 1 ms or more"
            )
        }
        if let name = hedging.upstream, !upstreams.contains(where: { $0.name == name }) {
            return Refusal(
                "hedging names an upstream \"\(printable(name))\", which the policy does not have",
                hint: "name one of upstreams"
            )
        }
        if upstreams.contains(where: { $0.name == hedging.upstream && $0.use == .whenConstrained }) {
            return Refusal(
                "hedging names an upstream that is used while the network is constrained",
                hint: "name another of upstreams"
            )
        }
        guard !traffic.budget.isEnabled || traffic.budget.percent == 0 || maxAttempts < 2 else { return nil }
        return Refusal(
            "hedging needs a retry budget and two attempts",
            hint: "leave traffic.budget on, and maxAttempts above 1"
        )
    }
}
