import RelayCore

/// One line of a job's timeline, as the ports saw it.
struct Moment {
    enum Event: UInt8 {
        case began
        case sent
        case refusedUnsent
        case failed
        case answered
        case streamEnded
        case streamBroke
        case streamLeft
        case decided
        case gaveUp
        case cancelled
        case outcome
        case tokenAsked
        case tokenGiven
        case tokenFailed
        case attempted
        case consulted
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

/// A hash of everything that passed the ports, in order: equal for equal runs.
struct TraceHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func mix(_ number: UInt64) {
        value = (value ^ number) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 29
    }

    mutating func mix(_ job: Int, _ moment: Moment) {
        mix(UInt64(bitPattern: moment.at))
        mix(UInt64(moment.event.rawValue) << 56 ^ UInt64(truncatingIfNeeded: job))
        mix(UInt64(truncatingIfNeeded: moment.first))
        mix(UInt64(truncatingIfNeeded: moment.second))
        var word: UInt64 = 0
        for byte in moment.word.utf8 { word = word &* 31 &+ UInt64(byte) }
        mix(word)
    }
}
