public import RelayJSON

/// Which answers are the route's errors although their status may say otherwise.
public struct APIErrorRule: Sendable {
    /// All of these must be present (not null) for the document to be an error.
    public var require: [JSONPointer]
    /// Statuses on which the body is looked at; empty means any.
    public var statuses: StatusSet
    public var code: JSONPointer?
    public var title: JSONPointer?

    public init(
        require: [JSONPointer],
        statuses: StatusSet = .any,
        code: JSONPointer? = nil,
        title: JSONPointer? = nil
    ) {
        self.require = require
        self.statuses = statuses
        self.code = code
        self.title = title
    }
}

/// A set of statuses and status classes: `["2xx", "302"]`.
public struct StatusSet: Sendable, Equatable {
    public var codes: [UInt16]
    public var classes: [Status.Class]
    public var isAny: Bool

    public init(codes: [UInt16] = [], classes: [Status.Class] = []) {
        self.codes = codes
        self.classes = classes
        isAny = false
    }

    public static let success = StatusSet(classes: [.success])

    public static let any: StatusSet = {
        var set = StatusSet()
        set.isAny = true
        return set
    }()

    public func contains(_ status: Status) -> Bool {
        if isAny || codes.contains(status.rawValue) { return true }
        guard let statusClass = status.class else { return false }
        return classes.contains(statusClass)
    }
}

/// What an answer must be to count as success.
public struct SuccessRule: Sendable {
    public var statuses = StatusSet.success
    /// Media types, without parameters, in lower case; empty accepts any.
    public var contentTypes: [String] = []
    public var require: [BodyCheck] = []
    public var fail: [BodyFailureCheck] = []
    /// A body larger than this is not looked into and fails the check.
    public var inspectLimit = 1_048_576

    public init() {}

    public var inspectsBody: Bool { !require.isEmpty || !fail.isEmpty }
}

/// One condition on the JSON body.
public struct BodyCheck: Sendable {
    public enum Condition: Sendable {
        /// Present and not null, or (false) absent or null.
        case exists(Bool)
        case equals(JSONValue)
        case isOneOf([JSONValue])
    }

    public var pointer: JSONPointer
    public var condition: Condition

    public init(pointer: JSONPointer, condition: Condition) {
        self.pointer = pointer
        self.condition = condition
    }
}

/// A condition that makes an answer a failure, and what to call it.
public struct BodyFailureCheck: Sendable {
    public var check: BodyCheck
    public var kind: FailureKind
    /// False keeps `retry` rules from acting on it.
    public var isRetryable: Bool?

    public init(check: BodyCheck, kind: FailureKind, isRetryable: Bool?) {
        self.check = check
        self.kind = kind
        self.isRetryable = isRetryable
    }
}

/// What is made of a successful answer.
public struct ResponseRules: Sendable, Equatable {
    public enum EmptyPolicy: String, CaseIterable, Sendable {
        /// An answer without content is passed on.
        case accept
        /// An answer without content is an `invalid_response`.
        case error
    }

    /// The caller gets what stands at this pointer; nil passes the body on as it is.
    public var unwrap: JSONPointer?
    /// The body must be valid JSON.
    public var expectsJSON = false
    public var empty = EmptyPolicy.accept
    public var redirects = Redirects.return
    /// Whether, and for how long, the last good answer to each GET is kept for `respond` as `stale`; nil keeps none.
    public var keepsLastGood: LastGoodRule?

    /// What is made of a 3xx answer with a `Location`.
    public enum Redirects: String, CaseIterable, Sendable {
        /// It is an answer like any other: a failure of the class `3xx` unless `success` lists it.
        case `return`
        /// It is followed, at most five times an attempt, while it stays with the origin that gave it; one that
        /// leads elsewhere is an answer.
        case follow
    }

    public init() {}
}

/// How long a good answer may stand in for a failed one.
public struct LastGoodRule: Sendable, Equatable {
    /// Age from which an answer is too old; 1 s to 30 d.
    public var maxAge: Duration

    public init(maxAge: Duration) { self.maxAge = maxAge }
}

/// Turns a failure into a success before any rule is asked, without spending an attempt.
public struct QuickRecoveryRule: Sendable {
    public var on: FailureMatcher
    /// Empty matches every method.
    public var methods: [Method]
    public var status: Status
    public var fields: [(name: String, value: String)]
    /// `{"$header": name}` and `{"$status": true}` inside stand for the answer's field and status.
    public var json: JSONValue?

    public init(
        on: FailureMatcher,
        methods: [Method] = [],
        status: Status,
        fields: [(name: String, value: String)] = [],
        json: JSONValue? = nil
    ) {
        self.on = on
        self.methods = methods
        self.status = status
        self.fields = fields
        self.json = json
    }
}

/// Names a failure before the rules read it.
public struct ErrorTypeRule: Sendable {
    /// Nil matches every failure.
    public var on: FailureMatcher?
    /// Empty matches whatever the upstream's code is.
    public var apiCodes: [String]
    public var kind: FailureKind
    public var treatAsStatus: Status?

    public init(on: FailureMatcher?, apiCodes: [String], kind: FailureKind, treatAsStatus: Status?) {
        self.on = on
        self.apiCodes = apiCodes
        self.kind = kind
        self.treatAsStatus = treatAsStatus
    }
}
