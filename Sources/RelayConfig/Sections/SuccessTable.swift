import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var success: Section<SuccessRule> {
        Section("success", "What an answer must be to count as success.", of: SuccessRule()) {
            Field("status", .statuses, \.statuses) { "Statuses and classes, such as \"2xx\" and \"302\"." }
            answerFields
            Field("fail", .list(failure, maximum: 50), \.fail) {
                "Conditions on the JSON body that make the answer a failure, each with its name."
            }
        }
    }

    /// The keys of every section that says what an answer must be, besides its status.
    @FieldList<SuccessRule> static var answerFields: [Field<SuccessRule>] {
        Field("content_type", .list(.mediaType, maximum: 20), \.contentTypes) {
            "Media types the answer may have; empty means any."
        }
        Field("require", .list(requirement, maximum: 50), \.require) {
            "Conditions on the JSON body that must all hold. An answer without content breaks them, also a 204 unless "
                + "status names \"204\" itself."
        }
        Field("inspect_limit", .size(1...1 << 26), \.inspectLimit) {
            "A body larger than this is not looked into and fails the check."
        }
    }

    static var response: Section<ResponseRules> {
        Section("response", "What is made of a successful answer.", of: RouteDraft.unstated.response) {
            Field("redirects", .word(), \.redirects) {
                "What is made of a 3xx answer with a Location. return takes it for an answer like any other; "
                    + "follow goes there, at most five times an attempt and only within the origin that gave it. "
                    + "One that leads to another origin is always an answer: a credential never goes with it."
            }
            Field("expect", .word(), \.expect) {
                "What the body must be: valid JSON, or anything when it is absent."
            }
            Field("unwrap", .memberPointer, \.unwrap) {
                "The caller gets only what stands at this pointer."
            }
            Field("empty", .word(), \.empty) {
                "Whether an answer without content is passed on or is a failure, of the kind empty_response. One that never has "
                    + "content, such as a 204, is one, too, unless success.status names \"204\" itself; an answer to HEAD "
                    + "never is."
            }
            Field("cache_last_good", lastGood.kind, \.keepsLastGood) {
                "Keeps the last good answer to each GET in memory, for rules that respond with it as stale: of a "
                    + "route at most 256 and 16 MiB, none larger than 1 MiB. Not kept is one to a request with "
                    + "Authorization, Cookie, Range or a body, and one that has Set-Cookie, no-store or private, or "
                    + "varies by a field that names no content, such as User-Agent."
            }
            Field("rewrite_location", .boolean, \.rewritesLocation) {
                "Whether Location, Content-Location and Refresh that lead below the base of one of the route's "
                    + "upstreams become paths of the relay, /r/ROUTE/..., so that whoever follows them comes back "
                    + "through the route. What they lead to elsewhere is left as it is."
            }
            Field("stream", stream.kind, \.stream) {
                "The treatment of successful answers that stream to their callers; without the key each is passed on as it comes."
            }
        }
    }

    private static var lastGood: Section<LastGoodRule> {
        Section(
            "cache_last_good",
            "How long a good answer may stand in for a failed one.",
            of: LastGoodRule(maxAge: .zero)
        ) {
            Field("max_age", .duration(.seconds(1) ... .seconds(30 * 86_400)), \.maxAge, isRequired: true) {
                "The age from which an answer is too old."
            }
        }
    }

    private struct CheckDraft {
        var pointer: JSONPointer?
        var exists: Bool?
        var equals: JSONValue?
        var isOneOf: [JSONValue]?
        var kind = FailureKind(rawValue: "")
        var isRetryable: Bool?

        var check: BodyCheck? {
            guard let pointer else { return nil }
            if let exists { return BodyCheck(pointer: pointer, condition: .exists(exists)) }
            if let equals { return BodyCheck(pointer: pointer, condition: .equals(equals)) }
            return isOneOf.map { BodyCheck(pointer: pointer, condition: .isOneOf($0)) }
        }
    }

    @FieldList<CheckDraft> private static var conditionFields: [Field<CheckDraft>] {
        Field("json", .pointer, \.pointer, isRequired: true) { "Pointer to the value that is looked at." }
        Field("exists", .boolean, \.exists) { "Whether something that is not null must be there." }
        Field("equals", .json, \.equals) { "The value it must be; numbers are compared by value." }
        Field("in", .list(.json, minimum: 1, maximum: 1000), \.isOneOf) {
            "The values of which it must be one."
        }
    }

    private static var requirement: ValueKind<BodyCheck> {
        Section(
            "requirement",
            "A condition that must hold.",
            of: CheckDraft(),
            choices: [.exactlyOne("exists", "equals", "in", "matches")]
        ) {
            conditionFields
            Field.reserved("matches")
        }.kind.compactMap(\.check)
    }

    private static var failure: ValueKind<BodyFailureCheck> {
        Section(
            "failure",
            "A condition that makes an answer a failure.",
            of: CheckDraft(),
            choices: [.exactlyOne("exists", "equals", "in", "matches")]
        ) {
            conditionFields
            Field("kind", .kindName, \.kind, isRequired: true) { "What the failure is called in \"on\"." }
            Field("retryable", .boolean, \.isRetryable) {
                "False keeps retry rules from acting on it, whatever they match."
            }
            Field.reserved("matches")
        }.kind.compactMap { draft in
            draft.check.map { check in
                BodyFailureCheck(check: check, kind: draft.kind, isRetryable: draft.isRetryable)
            }
        }
    }
}

extension ResponseRules {
    enum Expectation: String, CaseIterable {
        case json
    }

    fileprivate var expect: Expectation? {
        get { expectsJSON ? .json : nil }
        set { expectsJSON = newValue == .json }
    }

    var rewritesLocation: Bool {
        get { locationPrefix != nil }
        set { locationPrefix = newValue ? "" : nil }
    }
}
