import RelayBase
import RelayCore

struct Reply {
    enum Kind {
        case fails(FailureKind, Sent)
        case answers(Answer)

        var isSent: Bool { if case .fails(_, .neverSent) = self { false } else { true } }
    }

    /// Nanoseconds from the sending to the failure or the head of the answer.
    var after: Int64
    var kind: Kind
}

/// One answer, and what is true of it.
struct Answer {
    var status: UInt16
    var document = Document.empty
    var isJSON = true
    var flow = Flow()
    var retryAfter: RetryAfterForm?
    var location: Location?

    struct Location {
        let text: String
        /// The target at the same upstream; nil when it leads elsewhere.
        let target: String?
    }
}

/// The way in which the content comes.
struct Flow {
    var isStream = false
    var isAnnounced = false
    var pieces = 1
    /// Nanoseconds between two pieces.
    var gap: Int64 = 0
    /// How many pieces come before the connection breaks; nil when it does not.
    var breaksAfter: Int?
}

/// The content of an answer: few kinds, of which everything a rule can ask is known.
enum Document: Int, CaseIterable {
    case ok, error, nullError, soft, missing, notJSON, empty, large

    var bytes: [UInt8] {
        switch self {
        case .ok: Array(#"{"ok":true,"state":"done","data":{"id":7}}"#.utf8)
        case .error: Array(#"{"error":{"code":"E42","title":"no"}}"#.utf8)
        case .nullError: Array(#"{"ok":true,"error":null,"data":[1]}"#.utf8)
        case .soft: Array(#"{"ok":true,"state":"failed","data":{}}"#.utf8)
        case .missing: Array(#"{"state":"done"}"#.utf8)
        case .notJSON: Array("<html>sorry</html>".utf8)
        case .empty: []
        case .large:
            Array(#"{"ok":true,"data":{},"rest":""#.utf8) + Array(repeating: UInt8(ascii: "x"), count: 2_000)
                + Array("\"}".utf8)
        }
    }

    var isJSON: Bool { self != .notJSON && self != .empty }
    var isError: Bool { self == .error }
    /// Whether there is `ok`, and `data`.
    var hasOK: Bool { self == .ok || self == .nullError || self == .soft || self == .large }
    var saysFailed: Bool { self == .soft }
}
