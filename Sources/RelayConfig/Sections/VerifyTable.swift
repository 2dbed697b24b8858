import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var verify: Section<VerifyDraft> {
        Section(
            "verify",
            "How the upstream is asked what became of a request that may have been carried out, before anything else is "
                + "done about its failure. GET and HEAD change nothing and are not asked about.",
            of: VerifyDraft()
        ) {
            Field("request", lookUp.kind, \.request, isRequired: true) { "The question." }
            Field("found", answer("found").kind, \.found, isRequired: true) {
                "Answers that say that the request was carried out: it has succeeded, with that answer (source verified)."
            }
            Field("absent", answer("absent").kind, \.absent, isRequired: true) {
                "Answers that say that it was not carried out: it may be sent again whatever its method, as recovery says. "
                    + "An answer that is neither, or both, leaves it in doubt, and so does an error document of the route (api_error) "
                    + "with a status of success. A 3xx or 5xx can be named for neither."
            }
            Field("answer", .memberPointer, \.answer) {
                "The caller of a request that was carried out gets what stands at this pointer in the answer to the question, "
                    + "which is the whole answer when it is absent. An answer that has nothing there leaves it in doubt."
            }
            Field("on", .failures, \.on) {
                "The failures after which it is asked, as in recovery; all of those that leave it open what became of the "
                    + "request when it is absent. After a crash it is always asked."
            }
            Field("settle_after", .duration(.zero ... .seconds(600)), \.settleAfter) {
                "The wait before the first question, so that an upstream is not asked before it can show what it has done."
            }
            Field("timeout", .duration(.milliseconds(1) ... .seconds(600)), \.timeout) {
                "How long one question may take."
            }
            Field("attempts", .integer(1...20), \.attempts) {
                "Questions about one attempt that reached the upstream and were answered neither way; the waits between "
                    + "them double from 1s to 15m. Of those that could not be sent there are 100 at most."
            }
        }
    }

    private static var lookUp: Section<LookUpDraft> {
        Section(
            "verify_request",
            "The question to the upstream. It carries the route's credential, and what request.headers, request.query and "
                + "prepare set.",
            of: LookUpDraft()
        ) {
            Field("method", safeMethod, \.method) { "GET or HEAD." }
            Field("path", .lookUpPath, \.path, isRequired: true) {
                "The path below the upstream's base, with a query where it has one. In it stand for values of the request, "
                    + "which are encoded: {key} for its idempotency key without quotes, {job.id}, {route}, {header:NAME} and "
                    + "{json:POINTER} for a text or number of its JSON body. A request that has no such value, or one "
                    + "of more than 256 bytes, is sent all the same, and in doubt its upstream cannot be asked."
            }
            Field("headers", headers, \.fields) { "Headers of the question, in which the same may stand." }
            Field("upstream", .name, \.upstream) {
                "The upstream that is asked, by its name; the one that was sent the request when it is absent."
            }
        }
    }

    private static var headers: ValueKind<[(name: String, value: LookUpTemplate)]> {
        .map(
            .lookUpField,
            name: "header names",
            pattern: ValueKind<String>.fieldNamePattern,
            isSensitive: true,
            ignoresCase: true
        ) { name throws(Refusal) in _ = try checkFieldName(name, for: .set) }
    }

    static var safeMethod: ValueKind<Method> {
        .text("\"GET\" or \"HEAD\"", pattern: "^(GET|HEAD)$") { text throws(Refusal) in
            guard text == "GET" || text == "HEAD" else {
                throw Refusal("a question changes nothing: expected \"GET\" or \"HEAD\"")
            }
            return Method(rawValue: text)
        }.writing { .string($0.rawValue) }
    }

    static func answer(_ name: String, of setting: String = "verify") -> Section<SuccessRule> {
        Section("\(setting)_\(name)", "Answers to the question.", of: SuccessRule()) {
            Field("status", .statuses, \.statuses, isRequired: true) {
                "Statuses and classes, such as \"2xx\" and \"404\"."
            }
            answerFields
        }
    }
}

extension ValueKind where Value == LookUpTemplate {
    private static var words: String { LookUpTemplate.placeholders.map { "{\($0)}" }.joined(separator: ", ") }

    static var lookUpPath: ValueKind {
        .text("a path that may hold \(words)") { text throws(Refusal) in try LookUpTemplate(path: text) }
            .writing { .string($0.source) }
    }

    static var lookUpField: ValueKind {
        .text("a header value that may hold \(words)") { text throws(Refusal) in
            try LookUpTemplate(field: text)
        }
    }
}

extension RouteCheck {
    /// Answers can be told apart, somebody waits for the question, and the upstream that is asked is there.
    func checkVerification(_ reading: inout ReadContext) {
        guard let draft = route.verify, let place = node["verify"]?.value else { return }
        reading.within("verify") { reading in
            if let words = place["on"]?.value {
                checkWords(words, at: { place.location("on", $0) }, &reading)
            }
            if let name = draft.request.upstream, !route.upstreams.contains(where: { $0.name == name }) {
                let nearest = nearestWord(to: name, among: route.upstreams.map(\.name))
                reading.error(
                    "the route has no upstream named \"\(printable(name))\"",
                    at: place.location("request", "upstream"),
                    hint: nearest.map { "did you mean \"\($0)\"?" }
                )
            }
            if let fault = draft.made([])?.fault {
                reading.error(fault.message, at: place.location("absent"), hint: fault.hint)
            }
            if !isDurable, draft.settleAfter >= policy.timeouts.total {
                reading.warn(
                    "no request that waits is asked about: its time is over after \(DurationText.text(policy.timeouts.total))",
                    at: place.location(place["settle_after"] == nil ? "request" : "settle_after"),
                    hint: "raise \"timeouts.total\", or ask sooner"
                )
            }
        }
    }
}
