public import RelayBase

extension Collection<Attempt> {
    /// The rules that acted and let the job go on: each once, in the order they first did.
    public var recoveredBy: [String] {
        reduce(into: []) { rules, attempt in
            guard let rule = attempt.rule, attempt.next != .fail, !rules.contains(rule) else { return }
            rules.append(rule)
        }
    }
}

extension BidirectionalCollection<Attempt> {
    /// The rule that ended the job after its last attempt; nil when none did.
    public var stoppedBy: String? { last?.next == .fail ? last?.rule : nil }

    /// Whether a rule did not act after the last attempt because its wait would have reached the deadline.
    package var wouldWaitTooLong: Bool {
        guard let last else { return false }
        return last.heldBack.contains {
            if case .deadline(let wait) = $0.reason { wait > .zero } else { false }
        }
    }
}
