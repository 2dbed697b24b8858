public import RelayBase
public import RelayJSON

/// Which answers are the route's errors although their status may say otherwise.
public struct APIErrorRule: Sendable {
    /// All of these must be present (not null) for the document to be an error.
    public var require: [JSONPointer]
    /// Statuses on which the content is looked at; every one unless set.
    public var statuses: StatusSet
    /// Where the upstream's own code of the error stands; it becomes ``Failure/apiCode``.
    public var code: JSONPointer?
    /// Where the upstream's own title of the error stands; it becomes ``Failure/apiTitle``.
    public var title: JSONPointer?
    /// The status under which the caller of a daemon gets such a document where its own tells of no failure; nil leaves
    /// each as it came.
    package var callerStatus: CallerStatus?

    /// A status for whoever asked, in the place of one that tells of no failure.
    package struct CallerStatus: Sendable, Equatable {
        /// Where the document names it; nil looks nowhere.
        package var pointer: JSONPointer?
        /// The status where nothing from 400 to 599 stands there.
        package var status: Status

        package init(_ status: Status, at pointer: JSONPointer? = nil) {
            (self.status, self.pointer) = (status, pointer)
        }
    }

    /// Recognises an error document by what must be present in it.
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
    /// Single statuses.
    public var codes: [UInt16]
    /// Whole classes of statuses.
    public var classes: [Status.Class]
    package var isAny: Bool

    /// The statuses that are listed or of a listed class.
    public init(codes: [UInt16] = [], classes: [Status.Class] = []) {
        self.codes = codes
        self.classes = classes
        isAny = false
    }

    /// 200 to 299.
    public static let success = StatusSet(classes: [.success])

    /// Every status.
    public static let any: StatusSet = {
        var set = StatusSet()
        set.isAny = true
        return set
    }()

    /// Whether the status is in the set.
    public func contains(_ status: Status) -> Bool {
        if isAny || codes.contains(status.rawValue) { return true }
        guard let statusClass = status.class else { return false }
        return classes.contains(statusClass)
    }
}

/// The conditions for an answer to count as success.
public struct SuccessRule: Sendable {
    /// Statuses that count as success; 200 to 299 unless set.
    public var statuses = StatusSet.success
    /// Media types, without parameters, in lower case; empty accepts any.
    public var contentTypes: [String] = []
    /// Conditions that must all hold; an answer that breaks one is a failure of the kind `invalid_response`.
    public var require: [BodyCheck] = []
    /// Conditions of which none may hold; each names the failure it makes of the answer.
    public var fail: [BodyFailureCheck] = []
    /// A body larger than this is not looked into and fails the check.
    public var inspectLimit = 1_048_576

    /// Every answer 200 to 299 is a success.
    public init() {}

    package var inspectsBody: Bool { !require.isEmpty || !fail.isEmpty }
}

/// One condition on the JSON body.
public struct BodyCheck: Sendable {
    /// A demand on the value.
    public enum Condition: Sendable {
        /// Present and not null, or (false) absent or null.
        case exists(Bool)
        /// Present and of the same value: numbers by value, objects in any order.
        case equals(JSONValue)
        /// Present and of the same value as one of these.
        case isOneOf([JSONValue])
    }

    /// Where the value stands.
    public var pointer: JSONPointer
    /// The demand on it.
    public var condition: Condition

    /// Asks that of the value at `pointer`.
    public init(pointer: JSONPointer, condition: Condition) {
        self.pointer = pointer
        self.condition = condition
    }
}

/// A condition that makes an answer a failure, and what to call it.
public struct BodyFailureCheck: Sendable {
    /// The condition.
    public var check: BodyCheck
    /// The name of the failure.
    public var kind: FailureKind
    /// False keeps `retry` rules from acting on it.
    public var isRetryable: Bool?

    /// Names a condition's failure; nil for `isRetryable` leaves it to the rules.
    public init(check: BodyCheck, kind: FailureKind, isRetryable: Bool?) {
        self.check = check
        self.kind = kind
        self.isRetryable = isRetryable
    }
}

/// The rules for a successful answer.
public struct ResponseRules: Sendable, Equatable {
    /// The treatment of an answer without content.
    public enum EmptyPolicy: String, CaseIterable, Sendable {
        /// An answer without content is passed on.
        case accept
        /// An answer without content is a failure of the kind ``FailureKind/emptyResponse``; one that never has content,
        /// such as a 204, too, unless `success` names its status itself.
        case error
    }

    /// The caller gets what stands at this pointer; nil passes the body on as it is.
    public var unwrap: JSONPointer?
    /// The body must be valid JSON.
    public var expectsJSON = false
    /// The treatment of an answer without content; it is passed on unless set.
    public var empty = EmptyPolicy.accept
    /// The treatment of a redirect; it is an answer like any other unless set.
    public var redirects = Redirects.return
    /// Whether, and for how long, the last good answer to each GET is kept for `respond` as `stale`; nil keeps none.
    public var keepsLastGood: LastGoodRule?

    /// Where the route's paths begin for its callers; nil leaves references in answers as they are.
    ///
    /// Those that lead below an upstream's base are rewritten to begin there.
    package var locationPrefix: String?

    /// The treatment of answers that stream; nil passes each on as it comes.
    public var stream: StreamRules?

    /// The treatment of a 3xx answer with a `Location`.
    public enum Redirects: String, CaseIterable, Sendable {
        /// It is an answer like any other: a failure of the class `3xx` unless `success` lists it.
        case `return`
        /// It is followed, at most five times an attempt, while it stays with the origin that gave it; one that
        /// leads elsewhere is an answer.
        case follow
    }

    /// Passes every success on as it is.
    public init() {}
}

/// How long a good answer may stand in for a failed one.
public struct LastGoodRule: Sendable, Equatable {
    /// Age from which an answer is too old; 1 s to 30 d.
    public var maxAge: Duration

    /// Keeps answers for that long.
    public init(maxAge: Duration) { self.maxAge = maxAge }
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
public struct ErrorTypeRule: Sendable {
    /// Nil matches every failure.
    public var on: FailureMatcher?
    /// Empty matches whatever the upstream's code is.
    public var apiCodes: [String]
    /// The field that the answer has to have; nil looks at none, and matches failures without an answer too.
    public var header: HeaderCheck?
    /// The name of such a failure.
    public var kind: FailureKind
    /// The status that rules match it against; nil leaves it its own.
    public var treatAsStatus: Status?
    /// The failure's word on repeating; nil leaves that to the rules.
    ///
    /// False keeps retry rules from acting on it, and an answer that says so counts for no trouble of the upstream: neither
    /// for its breaker and its window nor for the patience it asks for.
    public var isRetryable: Bool?

    /// Names the failures that match all of it.
    public init(
        on: FailureMatcher?,
        apiCodes: [String],
        header: HeaderCheck? = nil,
        kind: FailureKind,
        treatAsStatus: Status?,
        isRetryable: Bool? = nil
    ) {
        self.header = header
        self.isRetryable = isRetryable
        self.on = on
        self.apiCodes = apiCodes
        self.kind = kind
        self.treatAsStatus = treatAsStatus
    }
}

/// A field that an answer may have.
public struct HeaderCheck: Sendable, Equatable {
    /// The field's name.
    public var name: FieldName
    /// Its value, whatever the case of its letters; nil takes any.
    public var value: String?

    /// Looks for the field, with that value where there is one.
    public init(_ name: FieldName, value: String? = nil) {
        self.name = name
        self.value = value
    }

    /// Whether one of the fields is such a one.
    func matches(_ fields: HeaderFields) -> Bool {
        guard let value = value?.lowercased() else { return fields.contains(name) }
        return fields.values(name).contains { $0.lowercased() == value }
    }
}
