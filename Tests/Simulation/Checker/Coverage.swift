/// How often everything that should happen did happen.
struct Coverage {
    enum Kind: Int, CaseIterable {
        case answeredAtOnce
        case answeredLater
        case quickRecovered
        case fallback
        case placeholder
        case stale
        case failedWithAnswer
        case failedWithoutAnswer
        case cancelledOutcome
        case preparationFailed
        case outcomeAtDeadline

        case retried
        case refreshed
        case failedOver
        case coolingPassed
        case constrained
        case nothingKept
        case redirected
        case redirectedOften
        case withoutTask
        case keptConnectionGone
        case responded
        case stopped
        case noRule

        case ruleSpent
        case jobSpent
        case deadlineSpent
        case noTimeLeft
        case matchedExhausted

        case neverSent
        case unknown
        case refused
        case answered
        case heldBackUnknown
        case heldBackAnswered
        case heldBackBody
        case heldBackStandIn
        case repeatedIdempotent
        case repeatedKeyed
        case repeatedAny

        case kindConnection
        case kindTimeout
        case kindDNS
        case kindTLS
        case kindProtocol
        case kindStatus
        case kindAPI
        case kindInvalid
        case kindDecoding
        case kindCredentials
        case kindSoft
        case kindNamed
        case kindTooLarge
        case kindStrangeStatus

        case cancelledBefore
        case cancelledToken
        case cancelledSend
        case cancelledCollect
        case cancelledWait
        case cancelledTooLate

        case retryAfterSeconds
        case retryAfterHuge
        case retryAfterGarbage
        case retryAfterTwice
        case retryAfterContradicts
        case retryAfterFutureDate
        case retryAfterPastDate
        case retryAfterHonoured
        case retryAfterClamped
        case retryAfterIgnored

        case waitExponential
        case waitConstant
        case waitList
        case waitZero

        case tokenAsked
        case tokenGiven
        case tokenSlow
        case tokenDown
        case tokenGarbage
        case tokenBroken
        case tokenTimedOut
        case tokenRotated
        case tokenEarly
        case tokenExpired
        case tokenRefused
        case tokenShared
        case tokenHeld
        case tokenRemembered
        case tokenLate
        case tokenMissing
        case tokenFixed
        case reloaded

        case streamPassed
        case streamCollected
        case streamBroke
        case streamLate
        case streamSlow
        case streamLeft
        case uploadRead
        case refusedCancelled
        case waitedForPlace
        case manyInFlight

        case programAsked
        case programRetried
        case programStopped
        case programChanged
        case programHung
        case programDeaf
        case programUnprepared
        case programClassified
        case programRecovered
        case programRejected
        case programRenamed
        case programKeyed
        case programAnswered
        case programFailed
        case breached

        case durableDelivered
        case durableLater
        case durableDead
        case durableExpired
        case durableCredentials
        case durableRefused
        case durableStopped
        case durableUnknown
        case durableNotRepeatable

        var name: String {
            switch self {
            case .answeredAtOnce: "outcome: answered, first attempt"
            case .answeredLater: "outcome: answered after failures"
            case .quickRecovered: "outcome: quick recovery"
            case .fallback: "outcome: fallback"
            case .placeholder: "outcome: placeholder"
            case .stale: "outcome: stale"
            case .failedWithAnswer: "outcome: failed, answer passed on"
            case .failedWithoutAnswer: "outcome: failed, no answer"
            case .cancelledOutcome: "outcome: cancelled"
            case .preparationFailed: "outcome: preparation failed"
            case .outcomeAtDeadline: "outcome: in the instant of the deadline"
            case .retried: "action: retry"
            case .refreshed: "action: refresh_credentials"
            case .coolingPassed: "failover: the upstream is cooling"
            case .constrained: "attempt: network constrained"
            case .nothingKept: "stale: nothing kept"
            case .redirected: "redirect: followed"
            case .redirectedOften: "redirect: followed as often as allowed"
            case .withoutTask: "sent without a task"
            case .keptConnectionGone: "sent without a task over a connection that was gone"
            case .failedOver: "action: failover"
            case .responded: "action: respond"
            case .stopped: "action: fail"
            case .noRule: "action: no rule"
            case .ruleSpent: "exhausted: a rule's allowance"
            case .jobSpent: "exhausted: the job's attempts"
            case .deadlineSpent: "exhausted: the deadline"
            case .noTimeLeft: "exhausted: no time for the wait"
            case .matchedExhausted: "exhausted: matched by a rule"
            case .neverSent: "verdict: never_sent"
            case .unknown: "verdict: unknown"
            case .refused: "verdict: refused"
            case .answered: "verdict: answered"
            case .heldBackUnknown: "held back: outcome unknown"
            case .heldBackAnswered: "held back: may have been carried out"
            case .heldBackBody: "held back: body gone"
            case .heldBackStandIn: "held back: a stand-in for a delivery"
            case .repeatedIdempotent: "repeated though it may have been done: idempotent method"
            case .repeatedKeyed: "repeated though it may have been done: key"
            case .repeatedAny: "repeated though it may have been done: methods any"
            case .kindConnection: "failure: connection"
            case .kindTimeout: "failure: timeout"
            case .kindDNS: "failure: dns"
            case .kindTLS: "failure: tls"
            case .kindProtocol: "failure: protocol"
            case .kindStatus: "failure: http_status"
            case .kindAPI: "failure: api_error"
            case .kindInvalid: "failure: invalid_response"
            case .kindDecoding: "failure: decoding"
            case .kindCredentials: "failure: credentials_failed"
            case .kindSoft: "failure: named by success.fail"
            case .kindNamed: "failure: named by error_types"
            case .kindTooLarge: "failure: body too large to look into"
            case .kindStrangeStatus: "failure: status of no final answer"
            case .cancelledBefore: "cancelled: before the first step"
            case .cancelledToken: "cancelled: waiting for a credential"
            case .cancelledSend: "cancelled: sending"
            case .cancelledCollect: "cancelled: collecting a body"
            case .cancelledWait: "cancelled: between attempts"
            case .cancelledTooLate: "cancelled: after the outcome"
            case .retryAfterSeconds: "Retry-After: seconds"
            case .retryAfterHuge: "Retry-After: huge"
            case .retryAfterGarbage: "Retry-After: garbage"
            case .retryAfterTwice: "Retry-After: twice the same"
            case .retryAfterContradicts: "Retry-After: two that differ"
            case .retryAfterFutureDate: "Retry-After: date to come"
            case .retryAfterPastDate: "Retry-After: date gone by"
            case .retryAfterHonoured: "Retry-After: honoured"
            case .retryAfterClamped: "Retry-After: clamped"
            case .retryAfterIgnored: "Retry-After: not honoured by the rule"
            case .waitExponential: "wait: exponential"
            case .waitConstant: "wait: constant"
            case .waitList: "wait: list"
            case .waitZero: "wait: none at all"
            case .tokenAsked: "token: asked"
            case .tokenGiven: "token: given"
            case .tokenSlow: "token: slow endpoint"
            case .tokenDown: "token: endpoint down"
            case .tokenGarbage: "token: garbage"
            case .tokenBroken: "token: body broke"
            case .tokenTimedOut: "token: no answer in time"
            case .tokenRotated: "token: refresh token rotated"
            case .tokenEarly: "token: renewed before its expiry"
            case .tokenExpired: "token: renewed after its expiry"
            case .tokenRefused: "token: renewed after a refusal"
            case .tokenShared: "token: one refresh, several jobs refused"
            case .tokenHeld: "token: none fetched, a fresh one was refused"
            case .tokenRemembered: "token: failure remembered"
            case .tokenLate: "token: not there before the attempt's deadline"
            case .tokenMissing: "token: secret missing"
            case .tokenFixed: "token: fixed"
            case .reloaded: "reload: the vault was replaced"
            case .streamPassed: "stream: passed to the caller"
            case .streamCollected: "stream: collected"
            case .streamBroke: "stream: broke while collected"
            case .streamLate: "stream: too late while collected"
            case .streamSlow: "stream: too slow while collected"
            case .streamLeft: "stream: let go"
            case .uploadRead: "upload: read"
            case .refusedCancelled: "transport: refused after cancellation"
            case .waitedForPlace: "job: its time began earlier"
            case .manyInFlight: "job: began with 200 or more in flight"
            case .programAsked: "program: a strategy was asked"
            case .programRetried: "program: a strategy sent again"
            case .programStopped: "program: a strategy stopped"
            case .programChanged: "program: a strategy changed the request"
            case .programHung: "program: code that waits to be cancelled"
            case .programDeaf: "program: code that heeds no cancellation"
            case .programUnprepared: "program: a preparation failed"
            case .programClassified: "program: an answer was called a failure"
            case .programRecovered: "program: a failure was called a success"
            case .programRejected: "program: an answer was not taken"
            case .programRenamed: "program: a failure was renamed"
            case .programKeyed: "program: repeated after unknown by its key"
            case .programAnswered: "program: answered"
            case .programFailed: "program: failed"
            case .breached: "outcome: breach of a route that never fails"
            case .durableDelivered: "durable: delivered"
            case .durableLater: "durable: delivered in a later run"
            case .durableDead: "durable: dead"
            case .durableExpired: "durable: expired"
            case .durableCredentials: "durable: put back for its credential"
            case .durableRefused: "durable: put back since its credential was refused for good"
            case .durableStopped: "durable: stopped and put back"
            case .durableUnknown: "durable: stopped with an unknown outcome"
            case .durableNotRepeatable: "durable: may have been carried out"
            }
        }
    }

    private(set) var counts = [Int](repeating: 0, count: Kind.allCases.count)

    mutating func note(_ kind: Kind) { counts[kind.rawValue] += 1 }

    mutating func add(_ other: Coverage) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    /// The kinds that never happened.
    var missing: [Kind] { Kind.allCases.enumerated().filter { counts[$0.offset] == 0 }.map(\.element) }

    var table: String {
        Kind.allCases.enumerated().map { index, kind in
            let name = kind.name
            return "  " + name + String(repeating: " ", count: max(1, 52 - name.count)) + "\(counts[index])"
        }.joined(separator: "\n")
    }
}
