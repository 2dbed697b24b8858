import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    /// The keys of a route that say what is done to requests and answers, in the order of an attempt.
    @FieldList<RouteDraft> static var messageFields: [Field<RouteDraft>] {
        Field("request", request.kind, \.policy.request) { "What is changed in every request." }
        Field("prepare", .list(preparation, maximum: 20), \.policy.prepare) {
            "Headers that are computed for the job or for each attempt."
        }
        Field("api_error", apiError, \.policy.apiError) {
            "Which answers are the upstream's own error documents, on any status."
        }
        Field("quick_recovery", .list(quickRecovery, maximum: 50), \.policy.quickRecovery) {
            "Failures that are successes after all: read before every recovery rule, costing no attempt."
        }
        Field("success", success.kind, \.policy.success) { "What an answer must be to count as success." }
        Field("response", response.kind, \.policy.response) { "What is made of a successful answer." }
        Field("error_types", .list(errorType, maximum: 100), \.policy.errorTypes) {
            "Names failures before the recovery rules read them; the first that matches counts."
        }
    }

    private static var request: Section<RequestRules> {
        Section("request", "What is changed in every request.", of: RouteDraft.unstated.request) {
            Field("headers", requestHeaders.kind, \.self) { "Headers to set and to remove." }
            Field("query", requestQuery.kind, \.self) { "Query parameters to set." }
            Field("wrap", .memberPointer, \.wrap) { "Puts the JSON body under this pointer." }
            Field("propagate", .word(), \.propagation) {
                "Whose trace context goes to the upstream: caller passes traceparent, tracestate and baggage of the "
                    + "caller on; none leaves them out, since baggage may hold what is nobody else's, and a trace ends "
                    + "where another's service begins. A header of headers.set goes out with both."
            }
            Field("allow_empty_segments", .boolean, \.allowsEmptySegments) {
                "Whether a path with an empty segment, as in a//b, is passed on; otherwise it is refused, since some "
                    + "servers leave empty segments out."
            }
        }
    }

    private static var requestHeaders: Section<RequestRules> {
        Section("request_headers", "Headers to set and to remove.", of: RequestRules()) {
            Field("set", .fields(.set), \.setFields) { "Headers that replace the caller's." }
            Field("remove", .list(.field(.remove), maximum: 100), \.removeFields) {
                "Headers that are not passed on."
            }
        }
    }

    private static var requestQuery: Section<RequestRules> {
        Section("request_query", "Query parameters to set.", of: RequestRules()) {
            Field("set", .queryParameters, \.query.parameters) {
                "Parameters that every attempt carries, in the place of the caller's of the same name. A value is "
                    + "text, written as it is meant, or a secret. They stand in no job and no log, and a secret is taken "
                    + "out of Location, Content-Location, Link and Refresh of an answer, however it is written there. What "
                    + "the upstream repeats in other fields or in the content is passed on."
            }
        }
    }

    private static var preparation: ValueKind<PreparationStep> {
        let templates = ValueKind<[(name: String, value: FieldTemplate)]>.map(
            .template,
            name: "header names",
            pattern: ValueKind<String>.fieldNamePattern,
            isSensitive: true
        ) { name throws(Refusal) in _ = try checkFieldName(name, for: .set) }
        return Section("prepare", "One step of preparation.", of: PreparationStep(phase: .job, fields: [])) {
            Field("each", .word(), \.phase, isRequired: true) {
                "Once for the job, or anew for each attempt from the request as it came."
            }
            Field("set_header", templates, \.fields, isRequired: true) {
                "Headers whose values may hold {job.id}, {now}, {attempt} and {route}."
            }
        }.kind
    }

    private static var apiError: ValueKind<APIErrorRule> {
        Section("api_error", "Which answers are error documents.", of: APIErrorRule(require: [])) {
            Field("require", .list(.pointer, minimum: 1, maximum: 20), \.require, isRequired: true) {
                "Pointers that must all lead to something that is not null."
            }
            Field("statuses", .statusesOrAny, \.statuses) { "Statuses on which the body is looked at." }
            Field("code", .pointer, \.code) { "Where the upstream's own error code stands." }
            Field("title", .pointer, \.title) { "Where its text stands." }
            Field("status", callerStatus, \.callerStatus) {
                "The status under which callers get an error document whose own status tells of no failure, as a 200 does: "
                    + "a number, or where the document names it. The document, with the upstream's code and title, stays as "
                    + "it is. Without the key it keeps its status, and Waystation-Outcome alone tells that it is a failure. "
                    + "Rules, attempts and metrics go by the upstream's own status."
            }
        }.kind
    }

    private static var callerStatus: ValueKind<APIErrorRule.CallerStatus> {
        let failing = ValueKind<Int>.integer(400...599)
            .map({ Status(rawValue: UInt16($0)) }, back: { Int($0.rawValue) })
        let named = Section(
            "api_error_status",
            "Where an error document names the status of its failure.",
            of: APIErrorRule.CallerStatus(502, at: nil)
        ) {
            Field("json", .pointer, \.pointer, isRequired: true) {
                "Pointer to the status, a number or text of digits."
            }
            Field("default", failing, \.status, isRequired: true) {
                "The status where nothing from 400 to 599 stands there."
            }
        }.kind
        return ValueKind(.either(failing.shape, named.shape)) { node, _, reading in
            if case .object = node.content { return named.read(node, nil, &reading) }
            return failing.read(node, nil, &reading).map { APIErrorRule.CallerStatus($0) }
        }
    }

    private static var quickRecovery: ValueKind<QuickRecoveryRule> {
        let nothing = QuickRecoveryRule(on: FailureMatcher([]), status: 200)
        let answer = Section("quick_answer", "The answer the caller gets.", of: nothing) {
            Field("status", .status, \.status, isRequired: true) { "The status." }
            Field("headers", .fields(.answer), \.fields) { "The headers." }
            Field("json", .jsonTemplate, \.json) {
                "The body. {\"$header\": NAME} and {\"$status\": true} in it stand for the upstream's header "
                    + "and status."
            }
        } check: { draft, node, reading in
            guard draft.status.forbidsContent, let body = node["json"] else { return }
            reading.error(
                "status \(draft.status.rawValue) has no body",
                at: body.nameRange,
                hint: "remove it"
            )
        }
        return Section("quick_recovery", "One failure that is a success.", of: nothing) {
            Field("on", .failures, \.on, isRequired: true) {
                "The failures it acts on, as in recovery; \"exhausted\" is none here."
            }
            Field("methods", .list(.method, maximum: 20), \.methods) {
                "The methods it acts on; empty means all."
            }
            Field("as", answer.kind, \.self, isRequired: true) { "The answer the caller gets." }
        }.kind
    }

    private static var header: Section<HeaderCheck> {
        Section("answer_header", "A header that an answer may have.", of: HeaderCheck(.host)) {
            Field("name", .field(.answer), \.name, isRequired: true) { "Its name." }
            Field("value", .fieldValue, \.value) {
                "Its value, whatever the case of its letters; any when it is absent."
            }
        }
    }

    private static var errorType: ValueKind<ErrorTypeRule> {
        Section(
            "error_type",
            "A name for failures.",
            of: ErrorTypeRule(on: nil, apiCodes: [], kind: "", treatAsStatus: nil)
        ) {
            Field("on", .failures, \.on) {
                "The failures it names, as in recovery; all when it is absent."
            }
            Field("api_code", .list(.string(), maximum: 1000), \.apiCodes) {
                "The upstream's own codes it names, as api_error found them."
            }
            Field("header", header.kind, \.header) {
                "A header of the answer without which the entry names nothing."
            }
            Field("kind", .kindName, \.kind, isRequired: true) { "The name." }
            Field("retryable", .boolean, \.isRetryable) {
                "False keeps retry rules from acting on it, whatever they match; and neither circuit_breaker, "
                    + "adaptive_concurrency, throttling nor a cooldown takes such an answer for the upstream's trouble. "
                    + "With a rule above all others that has \"dead_letter\" or \"fail\" it ends a request or a job for "
                    + "good."
            }
            Field("treat_as_status", .status, \.treatAsStatus) {
                "The status rules match against instead of the real one. Like a real one it decides whether the "
                    + "request was refused: with a 4xx, or 503 beside a Retry-After, it is repeated whatever its "
                    + "method."
            }
        }.kind
    }
}
