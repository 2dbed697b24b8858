/// The treatment of requests while the network is constrained: each sends less than the one before.
public enum ConstrainedUse: UInt8, CaseIterable, Comparable, Sendable {
    /// They are sent as ever.
    case send
    /// Lighter requests are sent in their place.
    case light
    /// They wait until it is not.
    case wait
    /// They are refused.
    case refuse

    /// The word of the configuration and of requests; nil of one that is no word.
    package var word: String? {
        switch self {
        case .send: "send"
        case .light: nil
        case .wait: "wait"
        case .refuse: "refuse"
        }
    }

    /// The one of that word.
    package init?(word: String) {
        guard let use = ConstrainedUse.allCases.first(where: { $0.word == word }) else { return nil }
        self = use
    }

    /// Whether the one sends more than the other.
    public static func < (left: ConstrainedUse, right: ConstrainedUse) -> Bool {
        left.rawValue < right.rawValue
    }
}
