/// One line of a job's timeline, as the ports saw it.
struct Moment {
    enum Event: UInt8 {
        case began, sent, refusedUnsent, failed, answered, streamEnded, streamBroke, streamLeft, decided
        case gaveUp, cancelled, outcome, tokenAsked, tokenGiven, tokenFailed, attempted, consulted
        case advised
    }

    let at: Int64
    let event: Event
    let first: Int
    let second: Int
    var word = ""

    var text: String {
        let what =
            switch event {
            case .began: "begins on route \(first); its time ends at \(Moment.time(Int64(second)))"
            case .sent: "is sent to upstream \(first)\(second > 0 ? " with token \(second)" : "")"
            case .refusedUnsent: "is refused by the transport, unsent"
            case .failed: "fails: \(word)"
            case .answered: "is answered \(first) with \(word)"
            case .streamEnded: "body is read to its end"
            case .streamBroke: "body breaks: \(word)"
            case .streamLeft: "body is let go"
            case .decided: "attempt \(first) failed as \(word)"
            case .gaveUp: "fails for good: \(word)"
            case .cancelled: "is cancelled"
            case .outcome: "ends: \(word)"
            case .tokenAsked: "credential \(first) is asked for"
            case .tokenGiven: "credential \(first) is given, token \(second)"
            case .tokenFailed: "credential \(first) is not given"
            case .attempted: "attempt \(first) begins"
            case .consulted: "strategy \(word) is asked, \(second) attempts left"
            case .advised: "the strategy \(word)"
            }
        return "  \(Moment.time(at))  \(what)"
    }

    /// Seconds with every nanosecond.
    static func time(_ nanoseconds: Int64) -> String {
        let fraction = "\(abs(nanoseconds) % 1_000_000_000)"
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count)
            + fraction + " s"
    }
}

extension TraceHash {
    mutating func mix(_ job: Int, _ moment: Moment) {
        mix(UInt64(bitPattern: moment.at))
        mix(UInt64(moment.event.rawValue) << 56 ^ UInt64(truncatingIfNeeded: job))
        mix(UInt64(truncatingIfNeeded: moment.first))
        mix(UInt64(truncatingIfNeeded: moment.second))
        mix(moment.word)
    }
}
