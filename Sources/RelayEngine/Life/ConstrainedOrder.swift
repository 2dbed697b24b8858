/// The operators' word about the network.
package enum ConstrainedOrder: String, CaseIterable, Sendable {
    case on
    case off
    /// Nothing: the other sources decide.
    case auto
}
