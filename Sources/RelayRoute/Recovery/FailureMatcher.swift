public import RelayBase

/// A rule's `on`: which failures it acts on.
public struct FailureMatcher: Sendable, Equatable {
    /// One of the things that may be named.
    public enum Token: Sendable, Equatable {
        /// Every failure.
        case any
        /// Matches when an earlier rule, the job or the deadline has nothing left.
        case exhausted
        /// Answers with that status, or with what ``Failure/treatedAsStatus`` says.
        case status(Status)
        /// Answers whose status is of that class.
        case statusClass(Status.Class)
        /// Kinds of that family.
        case group(FailureGroup)
        /// That kind.
        case kind(FailureKind)
    }

    /// The tokens that the matcher names; a failure has to be one of these.
    public let tokens: [Token]

    /// The failures that any of the tokens names; none names none.
    public init(_ tokens: [Token]) { self.tokens = tokens }

    /// Reads one word of `on`: `"any"`, `"exhausted"`, `"503"`, `"5xx"`, a group or a kind.
    ///
    /// - Returns: nil for a number that is no final status (200…599).
    package static func token(_ word: String) -> Token? {
        switch word {
        case "any": return .any
        case "exhausted": return .exhausted
        case "2xx": return .statusClass(.success)
        case "3xx": return .statusClass(.redirection)
        case "4xx": return .statusClass(.clientError)
        case "5xx": return .statusClass(.serverError)
        default: break
        }
        if let group = FailureGroup(rawValue: word) { return .group(group) }
        if let first = word.utf8.first, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") {
            guard let code = UInt16(word), (200..<600).contains(code) else { return nil }
            return .status(Status(rawValue: code))
        }
        return .kind(FailureKind(rawValue: word))
    }

    /// Whether it names that very kind.
    package func names(_ kind: FailureKind) -> Bool { tokens.contains(.kind(kind)) }

    /// Cancellation matches nothing: it is offered to no rule.
    package func matches(_ failure: Failure, isExhausted: Bool) -> Bool {
        if failure.isCallers { return false }
        let status = failure.treatedAsStatus ?? failure.status
        for token in tokens {
            switch token {
            case .any: return true
            case .exhausted: if isExhausted { return true }
            case .status(let wanted): if status == wanted { return true }
            case .statusClass(let wanted): if status?.class == wanted { return true }
            case .group(let group): if group.contains(failure.kind) { return true }
            case .kind(let kind): if kind == failure.kind { return true }
            }
        }
        return false
    }
}

extension FailureMatcher.Token {
    /// The word that reads as it.
    package var word: String {
        switch self {
        case .any: "any"
        case .exhausted: "exhausted"
        case .status(let status): "\(status.rawValue)"
        case .statusClass(let wanted): "\(wanted.rawValue)xx"
        case .group(let group): group.rawValue
        case .kind(let kind): kind.rawValue
        }
    }
}
