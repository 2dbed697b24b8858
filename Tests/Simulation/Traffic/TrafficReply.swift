import RelayBase
import RelayTestSupport

/// The reply of an upstream to an attempt, and the time until it ends.
struct TrafficReply {
    enum Kind {
        /// With the fields that ask for patience, and what they mean.
        case answers(UInt16, [(name: String, value: String)], asked: TrafficPatience?)
        /// Its head says 200, and its content breaks off.
        case breaksOff
        case fails(FailureKind, Sent)
    }

    var kind: Kind
    var after: Int64
}

/// The sign that the end of an attempt gives, read from what was on the wire by the rules as they are written down.
struct TrafficSign {
    enum Health { case works, fails, nothing }
    enum Load { case fine, tooMuch, lost, nothing }
    /// The cause of a failure: whose fault it is.
    enum Cause: String {
        case upstream, request, caller, relay
        case tooMany = "too_many"
    }

    var health = Health.nothing
    var load = Load.nothing
    var succeeded: Bool?
    /// For how long the upstream asks to be left alone, in nanoseconds.
    var asked: Int64?
    /// The upstream's own name of the limit it speaks of.
    var resource: String?
    var isTooFast = false
    /// Nil where it did not fail, or nothing is known.
    var cause: Cause?
    var status: UInt16?
    /// Whether its caller gave up, or had no time left, before there was an answer.
    var isGivenUp = false
    var isLate = false
    /// Whether it counts against the allowance of who was sent.
    var isSpent = false
    var mayHaveActed = false
    var word = ""

    static let cancelled: TrafficSign = {
        var sign = TrafficSign(word: "is cut off by its caller")
        sign.isGivenUp = true
        return sign
    }()

    /// Its caller let the content of an answer go, which says nothing.
    static let left = TrafficSign(word: "is let go")

    /// The end of an attempt whose caller gave up after longer than answers usually take.
    var counted: TrafficSign {
        var sign = self
        (sign.health, sign.load, sign.succeeded, sign.cause) = (.fails, .lost, false, .upstream)
        return sign
    }

    /// The same sooner.
    var forgiven: TrafficSign {
        var sign = self
        (sign.health, sign.load, sign.succeeded, sign.cause) = (.nothing, .nothing, nil, .caller)
        return sign
    }

    init(word: String) { self.word = word }

    /// `wall` is the present in milliseconds since 1970.
    init(_ kind: TrafficReply.Kind, wall: Int64) {
        switch kind {
        case .answers(let status, let fields, let asked):
            word = "is answered \(status) \(fields.map { "\($0.name): \($0.value)" })"
            self.asked = asked?.time(wall: wall)
            self.status = status
            resource = fields.first { $0.name == "X-RateLimit-Resource" }?.value
            succeeded = status / 100 == 2
            let waits =
                if case .form(let form)? = asked { form.wait(wallSeconds: wall / 1000) != nil } else { false }
            cause =
                switch status {
                case 200..<300: nil
                case 429: .tooMany
                case 503: waits ? .tooMany : .upstream
                case 502, 504: .upstream
                default: .request
                }
            isSpent = true
            // A client error refuses, and so does an upstream that has no room and says for how long.
            mayHaveActed = status >= 500 && (status != 503 || asked == nil)
            switch status {
            case 429: (health, load, isTooFast) = (.works, .tooMuch, true)
            case 503: (health, load) = (.fails, .tooMuch)
            case 502, 504: (health, load) = (.fails, .fine)
            default: (health, load) = (.works, .fine)
            }
        case .breaksOff:
            (health, load, succeeded, word) = (.fails, .lost, false, "breaks off")
            cause = .upstream
            (isSpent, mayHaveActed) = (true, true)
        case .fails(let kind, let sent):
            word = "fails: \(kind) \(sent)"
            (isSpent, mayHaveActed) = (sent != .neverSent, sent.mayHaveActed)
            cause = .relay
            if TrafficSign.ours.contains(kind) { return }
            cause = .upstream
            (health, succeeded, isLate) = (.fails, false, kind == .httpResponseTimeout)
            load = sent == .neverSent ? .nothing : .lost
        }
    }

    private static let ours: [FailureKind] = [.connectionLimitReached]
}

enum TrafficPatience {
    case time(Int64)
    case date(Int64)
    case form(RetryAfterForm)

    /// For how many nanoseconds it asks when it is read at that time, in milliseconds since 1970.
    func time(wall: Int64) -> Int64? {
        switch self {
        case .time(let time): time
        case .date(let date): max(0, date - wall) * 1_000_000
        case .form(let form): form.wait(wallSeconds: wall / 1000)
        }
    }

    /// The fields of an answer, with what they ask for; `wall` is the present in milliseconds since 1970.
    static func draw(
        _ draw: inout SplitMix64,
        isRefused: Bool,
        wall: Int64
    ) -> (
        fields: [(name: String, value: String)], asked: TrafficPatience?
    ) {
        if isRefused, draw.chance(60) {
            let form = RetryAfterForm.draw(&draw, wallSeconds: wall / 1000)
            return (form.values.map { ("retry-After", $0) }, .form(form))
        }
        let seconds = draw.pick([1, 2, 5, 30])
        let asked = TrafficPatience.time(Int64(seconds) * 1_000_000_000)
        let prefix = draw.pick(["RateLimit", "X-RateLimit", "X-Rate-Limit"])
        func pair(_ reset: String) -> [(name: String, value: String)] {
            [("\(prefix)-Remaining", "0"), ("\(prefix)-Reset", reset)]
        }
        switch draw.below(8) {
        case 0: return ([("RateLimit", "\"default\";r=0;t=\(seconds)")], asked)
        case 1: return ([("RateLimit", "\"hour\";r=7;t=900, \"burst\" ; r=0 ; t=\(seconds)")], asked)
        case 2: return ([("RateLimit", "limit=100, remaining=0, reset=\(seconds)")], asked)
        case 3: return (pair("\(seconds)"), asked)
        case 4:
            let date = wall / 1000 + Int64(seconds)
            return (pair("\(date)"), .date(date * 1000))
        case 5:
            let date = wall + Int64(seconds) * 1000
            return (pair("\(date)"), .date(date))
        case 6: return ([("\(prefix)-Remaining", "12"), ("\(prefix)-Reset", "30")], nil)
        default: return ([("RateLimit", draw.pick(["r=0", "\"x\";r=-1;t=5", "\"x\";r=3;t=9", ";;,"]))], nil)
        }
    }
}
