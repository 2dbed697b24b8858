/// Decides whether the network counts as constrained: an operator's word if there is one, otherwise the files.
package struct ConstrainedMachine {
    /// Absolute paths: any of these that exists is enough.
    package private(set) var files: [String] = []
    /// Whether operators have a say.
    package private(set) var control = false
    private(set) var order = ConstrainedOrder.auto
    /// One for each of the files, in their order.
    package private(set) var observations: [NetworkObservation] = []

    /// The result of a look at a file.
    package init() {}

    package enum NetworkObservation: Equatable {
        case absent
        case present
        /// It cannot be told; counts as absent.
        case hidden(reason: String)
    }

    /// The decision and the reason for it, to be compared.
    package struct Verdict: Equatable {
        package var isConstrained: Bool
        package var order: ConstrainedOrder
        /// Why, in a clause.
        package var reason: String
    }

    package var verdict: Verdict {
        switch order {
        case .on, .off:
            return Verdict(isConstrained: order == .on, order: order, reason: "an operator said so")
        case .auto:
            guard let index = observations.firstIndex(of: .present) else {
                return Verdict(isConstrained: false, order: order, reason: "no source says otherwise")
            }
            return Verdict(isConstrained: true, order: order, reason: "\(files[index]) exists")
        }
    }

    /// Another configuration is in force; what was seen of a file it keeps still holds.
    ///
    /// An operator's word stays unless the new configuration gives operators no say.
    package mutating func sourcesChanged(to files: [String], control: Bool) {
        let seen = Dictionary(zip(self.files, observations)) { first, _ in first }
        observations = files.map { seen[$0] ?? .absent }
        (self.files, self.control) = (files, control)
        if !control { order = .auto }
    }

    /// - Returns: whether operators have a say.
    package mutating func ordered(_ new: ConstrainedOrder) -> Bool {
        guard control else { return false }
        order = new
        return true
    }

    /// The files were looked at; a look at the files of another configuration says nothing.
    package mutating func looked(at files: [String], _ seen: [NetworkObservation]) {
        guard files == self.files, seen.count == files.count else { return }
        observations = seen
    }
}
