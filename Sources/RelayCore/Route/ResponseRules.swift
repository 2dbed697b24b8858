package import RelayJSON

/// Which answers are the route's errors although their status may say otherwise.
package struct APIErrorRule: Sendable {
    /// All of these must be present (not null) for the document to be an error.
    package var require: [JSONPointer]
    /// Statuses on which the body is looked at; empty means any.
    package var statuses: StatusSet
    package var code: JSONPointer?
    package var title: JSONPointer?

    package init(
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
package struct StatusSet: Sendable, Equatable {
    package var codes: [UInt16]
    package var classes: [Status.Class]
    package var isAny: Bool

    package init(codes: [UInt16] = [], classes: [Status.Class] = []) {
        self.codes = codes
        self.classes = classes
        isAny = false
    }

    package static let success = StatusSet(classes: [.success])

    package static let any: StatusSet = {
        var set = StatusSet()
        set.isAny = true
        return set
    }()

    package func contains(_ status: Status) -> Bool {
        if isAny || codes.contains(status.rawValue) { return true }
        guard let statusClass = status.class else { return false }
        return classes.contains(statusClass)
    }
}

/// What an answer must be to count as success.
package struct SuccessRule: Sendable {
    package var statuses = StatusSet.success
    /// Media types, without parameters, in lower case; empty accepts any.
    package var contentTypes: [String] = []
    package var require: [BodyCheck] = []
    package var fail: [BodyFailureCheck] = []
    /// A body larger than this is not looked into and fails the check.
    package var inspectLimit = 1_048_576

    package init() {}

    package var inspectsBody: Bool { !require.isEmpty || !fail.isEmpty }
}

/// One condition on the JSON body.
package struct BodyCheck: Sendable {
    package enum Condition: Sendable {
        /// Present and not null, or (false) absent or null.
        case exists(Bool)
        case equals(JSONValue)
        case isOneOf([JSONValue])
    }

    package var pointer: JSONPointer
    package var condition: Condition

    package init(pointer: JSONPointer, condition: Condition) {
        self.pointer = pointer
        self.condition = condition
    }
}

/// A condition that makes an answer a failure, and what to call it.
package struct BodyFailureCheck: Sendable {
    package var check: BodyCheck
    package var kind: FailureKind
    /// False keeps `retry` rules from acting on it.
    package var isRetryable: Bool?

    package init(check: BodyCheck, kind: FailureKind, isRetryable: Bool?) {
        self.check = check
        self.kind = kind
        self.isRetryable = isRetryable
    }
}

/// What is made of a successful answer.
package struct ResponseRules: Sendable {
    package enum EmptyPolicy: String, CaseIterable, Sendable {
        /// An answer without content is passed on.
        case accept
        /// An answer without content is an `invalid_response`.
        case error
    }

    /// The caller gets what stands at this pointer; nil passes the body on as it is.
    package var unwrap: JSONPointer?
    /// The body must be valid JSON.
    package var expectsJSON = false
    package var empty = EmptyPolicy.accept
    package var redirects = Redirects.return
    /// Whether, and for how long, the last good answer to each GET is kept for `respond` as `stale`; nil keeps none.
    package var keepsLastGood: LastGoodRule?

    /// What is made of a 3xx answer with a `Location`.
    package enum Redirects: String, CaseIterable, Sendable {
        /// It is an answer like any other: a failure of the class `3xx` unless `success` lists it.
        case `return`
        /// It is followed, at most five times an attempt, while it stays with the origin that gave it; one that
        /// leads elsewhere is an answer.
        case follow
    }

    package init() {}
}

/// How long a good answer may stand in for a failed one.
package struct LastGoodRule: Sendable, Equatable {
    /// Age from which an answer is too old; 1 s to 30 d.
    package var maxAge: Duration

    package init(maxAge: Duration) { self.maxAge = maxAge }
}

/// Turns a failure into a success before any rule is asked, without spending an attempt.
package struct QuickRecoveryRule: Sendable {
    package var on: FailureMatcher
    /// Empty matches every method.
    package var methods: [Method]
    package var status: Status
    package var fields: [(name: String, value: String)]
    /// `{"$header": name}` and `{"$status": true}` inside stand for the answer's field and status.
    package var json: JSONValue?

    package init(
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
package struct ErrorTypeRule: Sendable {
    /// Nil matches every failure.
    package var on: FailureMatcher?
    /// Empty matches whatever the upstream's code is.
    package var apiCodes: [String]
    package var kind: FailureKind
    package var treatAsStatus: Status?

    package init(on: FailureMatcher?, apiCodes: [String], kind: FailureKind, treatAsStatus: Status?) {
        self.on = on
        self.apiCodes = apiCodes
        self.kind = kind
        self.treatAsStatus = treatAsStatus
    }
}
