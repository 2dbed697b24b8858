import RelayConfig
import RelayServer

/// Decides whether the network counts as constrained: an operator's word if there is one, otherwise the files.
struct ConstrainedMachine {
    private(set) var sources = ConstrainedSources()
    private(set) var order = ConstrainedOrder.auto
    /// One for each of the files, in their order.
    private(set) var sights: [NetworkObservation] = []

    /// The result of a look at a file.
    enum NetworkObservation: Equatable {
        case absent
        case present
        /// It cannot be told; counts as absent.
        case hidden(reason: String)
    }

    /// The decision and the reason for it, to be compared.
    struct Verdict: Equatable {
        var isConstrained: Bool
        var order: ConstrainedOrder
        /// Why, in a clause.
        var reason: String
    }

    var verdict: Verdict {
        switch order {
        case .on, .off:
            return Verdict(isConstrained: order == .on, order: order, reason: "an operator said so")
        case .auto:
            guard let index = sights.firstIndex(of: .present) else {
                return Verdict(isConstrained: false, order: order, reason: "no source says otherwise")
            }
            return Verdict(isConstrained: true, order: order, reason: "\(sources.files[index]) exists")
        }
    }

    /// Another configuration is in force; what was seen of a file it keeps still holds.
    ///
    /// An operator's word stays unless the new configuration gives operators no say.
    mutating func sourcesChanged(to new: ConstrainedSources) {
        let seen = Dictionary(zip(sources.files, sights)) { first, _ in first }
        sights = new.files.map { seen[$0] ?? .absent }
        sources = new
        if !new.control { order = .auto }
    }

    /// - Returns: whether operators have a say.
    mutating func ordered(_ new: ConstrainedOrder) -> Bool {
        guard sources.control else { return false }
        order = new
        return true
    }

    /// The files were looked at; a look at the files of another configuration says nothing.
    mutating func looked(at files: [String], _ seen: [NetworkObservation]) {
        guard files == sources.files, seen.count == files.count else { return }
        sights = seen
    }
}
