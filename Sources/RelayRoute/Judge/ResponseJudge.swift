package import RelayBase
import RelayJSON

/// Decides what one answer is: steps 3 to 7 of the way of an attempt.
///
/// Pure: the same answer always gets the same verdict.
package struct ResponseJudge: Sendable {
    package enum Verdict: Sendable {
        case success(HTTPResponse)
        /// A `quick_recovery` rule made a success of a failure.
        case quickRecovered(HTTPResponse, from: Failure)
        /// A refusal by status or error document: what the caller gets when no rule helps.
        case refused(Failure)
        /// An answer that only looks like a success; the caller never gets it.
        case invalid(Failure)
    }

    /// Bodies of a known length up to this are collected before they are passed on where a rule may act on a truncated
    /// answer; anything else streams through.
    package static let collectLimit: UInt64 = 262_144

    package let route: Route
    package let method: Method
    /// Whether the caller asked only for what has changed, so that a 304 is what it wants.
    private let isConditional: Bool

    package init(route: Route, method: Method, isConditional: Bool = false) {
        self.route = route
        self.method = method
        self.isConditional = isConditional
    }

    /// Whether the body must be in memory before `judge` can be asked.
    package func needsBody(_ status: Status) -> Bool {
        guard route.inspectsBody, method != .head, !status.forbidsContent else { return false }
        if route.policy.success.statuses.contains(status) { return true }
        return route.policy.apiError?.statuses.contains(status) ?? false
    }

    /// Bytes of a body that are read to judge it.
    package var inspectLimit: Int {
        min(route.policy.success.inspectLimit, route.policy.limits.body)
    }

    /// The setting that sets that limit.
    package var inspectKey: StaticString {
        route.policy.success.inspectLimit < route.policy.limits.body
            ? "success.inspect_limit" : "limits.max_response_body"
    }

    /// Judges an answer whose body is in memory when `needsBody` said so; the seconds since 1970 are for a `Retry-After`
    /// that is a date.
    package func judge(_ inbound: InboundResponse, wallSeconds: Int64) -> Verdict {
        let response = inbound.response
        switch classify(response) {
        case .refused(let found):
            let failure = completed(found, inbound, wallSeconds: wallSeconds)
            if let recovered = quickRecovery(failure, response) {
                return .quickRecovered(recovered, from: failure)
            }
            return .refused(failure)
        case .invalid(let failure): return .invalid(completed(failure, inbound, wallSeconds: wallSeconds))
        case let verdict: return verdict
        }
    }

    /// A failure with what its answer says about it.
    package func completed(_ failure: Failure, _ inbound: InboundResponse, wallSeconds: Int64) -> Failure {
        var failure = failure
        failure.exchange = inbound.exchange
        failure.retryAfter = RetryAfter.parse(inbound.response.fields, wallSeconds: wallSeconds)
        return refusing(marked(failure, inbound.response.fields), inbound.response.status)
    }

    /// The failure with what `error_types` looks for among the fields of its answer.
    package func marked(_ failure: Failure, _ fields: HeaderFields) -> Failure {
        let types = route.policy.errorTypes
        let marks = types.indices.filter { types[$0].header?.matches(fields) ?? false }
        guard !marks.isEmpty else { return failure }
        var marked = failure
        marked.headerMarks = marks
        return marked
    }

    /// The failure with the verdict of its answer's status.
    ///
    /// A status that counts as a success says nothing of a refusal, whatever its content: the request may have been
    /// carried out.
    package func refusing(_ failure: Failure, _ status: Status?) -> Failure {
        guard failure.sent == .answered, let status, !route.policy.success.statuses.contains(status),
            status.refuses(retryAfter: failure.retryAfter)
        else { return failure }
        var refused = failure
        refused.sent = .refused
        return refused
    }

    /// Applies `error_types` to a failure, whatever stage it came from.
    ///
    /// Failures of the caller's own, and of requests that were never sent because they could not be made, keep their
    /// names: no rule may act on them.
    package func named(_ failure: Failure) -> Failure {
        if failure.isCallers || failure.kind == .preparation { return failure }
        for (index, rule) in route.policy.errorTypes.enumerated() {
            if rule.header != nil, !failure.headerMarks.contains(index) { continue }
            if let on = rule.on, !on.matches(failure, isExhausted: false) { continue }
            if !rule.apiCodes.isEmpty {
                guard let code = failure.apiCode, rule.apiCodes.contains(code) else { continue }
            }
            var named = failure
            named.kind = rule.kind
            if let isRetryable = rule.isRetryable { named.isRetryable = isRetryable }
            if let status = rule.treatAsStatus {
                named.treatedAsStatus = status
                // The status tells how far a request got only where the request was answered.
                if named.sent == .answered || named.sent == .refused {
                    named.sent = status.refuses(retryAfter: failure.retryAfter) ? .refused : .answered
                }
            }
            return named
        }
        return failure
    }
}

// The verdict on an answer before any `quick_recovery` rule has seen it.
extension ResponseJudge {
    /// A finding about an answer.
    private enum Finding {
        /// The part of the content that is passed on, where not all of it is.
        case success(Range<Int>?)
        case refused(Failure)
        case invalid(Failure)
    }

    private func classify(_ response: HTTPResponse) -> Verdict {
        let content = response.body.document
        let document = content ?? []
        switch finding(response.status, response.fields, document.span, isInMemory: content != nil) {
        case .success(nil): return .success(response)
        case .success(let range?):
            let part = Array(document[range])
            return .success(
                HTTPResponse(status: response.status, fields: response.fields, body: .bytes(part))
            )
        case .refused(let failure): return .refused(failure)
        case .invalid(let failure): return .invalid(failure)
        }
    }

    /// Whether an answer with that content, which is in no coding, is passed on as it is.
    ///
    /// Of its fields only `Content-Type` is asked for. Content with a byte order mark is never passed on.
    package func passesOn(_ status: Status, _ fields: HeaderFields, _ content: Span<UInt8>) -> Bool {
        if content.count > inspectLimit || !content.isEmpty && content[0] == 0xEF { return false }
        if case .success(nil) = finding(status, fields, content, isInMemory: true) { return true }
        return false
    }

    private func finding(
        _ status: Status,
        _ fields: HeaderFields,
        _ content: Span<UInt8>,
        isInMemory: Bool
    ) -> Finding {
        guard status.class != nil else {
            let detail = "the upstream answered with the status \(status.rawValue), which no final answer has"
            return .refused(Failure(.httpProtocolError, sent: .answered, detail))
        }
        if isInMemory, let failure = apiError(status, content) { return .refused(failure) }
        if status == 304, isConditional { return .success(nil) }
        guard route.policy.success.statuses.contains(status) else {
            let detail = "the upstream answered \(status.rawValue)"
            return .refused(Failure(.httpStatus, sent: .answered, detail, status: status))
        }
        guard route.inspectsBody || !route.policy.success.contentTypes.isEmpty, method != .head,
            !status.forbidsContent
        else { return contentless(status) }
        return validated(status, fields, content)
    }

    /// An answer that never has content, to anything but HEAD, breaks what is required of content, unless the route
    /// names its status.
    private func contentless(_ status: Status) -> Finding {
        let (success, wantsContent) = (route.policy.success, route.policy.response.empty == .error)
        guard status.forbidsContent, method != .head, wantsContent || !success.require.isEmpty,
            !success.statuses.codes.contains(status.rawValue)
        else { return .success(nil) }
        let why = wantsContent ? "response.empty is \"error\"" : "success.require looks into it"
        return invalid(
            status,
            "a \(status.rawValue) has no content and \(why); a route that takes it for a success names "
                + "\"\(status.rawValue)\" in success.status",
            .emptyResponse
        )
    }

    /// The failure of an answer to one of the relay's own questions that is an error document of the route beside a status of
    /// success, and so says nothing of what was asked; nil of any other.
    package static func errorDocument(
        _ inbound: InboundResponse,
        of route: Route,
        wallSeconds: Int64
    ) -> Failure? {
        let status = inbound.response.status
        guard status.class == .success, let content = inbound.response.body.document else { return nil }
        let judge = ResponseJudge(route: route, method: .get)
        return judge.apiError(status, content.span)
            .map { judge.completed($0, inbound, wallSeconds: wallSeconds) }
    }

    /// An error document on any status the rule names: it keeps the status and becomes an API error.
    private func apiError(_ status: Status, _ content: Span<UInt8>) -> Failure? {
        guard let rule = route.policy.apiError, rule.statuses.contains(status), !content.isEmpty else {
            return nil
        }
        let pointers = rule.require + [rule.code, rule.title].compactMap(\.self)
        guard let found = try? JSONScan.locate(pointers, in: content) else { return nil }
        for range in found.prefix(rule.require.count) {
            guard let range, !isNull(content, range) else { return nil }
        }
        var rest = found.dropFirst(rule.require.count).makeIterator()
        var failure = Failure(
            .apiError,
            sent: .answered,
            "the upstream answered \(status.rawValue) with an error document",
            status: status
        )
        if rule.code != nil, let range = rest.next() ?? nil { failure.apiCode = code(content, range) }
        if rule.title != nil, let range = rest.next() ?? nil { failure.apiTitle = text(content, range) }
        if let code = failure.apiCode { failure.detail += " (code \(code))" }
        return failure
    }

    private func validated(_ status: Status, _ fields: HeaderFields, _ content: Span<UInt8>) -> Finding {
        let policy = route.policy
        if !policy.success.contentTypes.isEmpty, !hasWantedType(fields) {
            return invalid(status, "the answer's Content-Type is none of \(policy.success.contentTypes)")
        }
        guard route.inspectsBody else { return .success(nil) }
        if !content.isEmpty, let coding = ContentCoding.unread(fields) {
            let detail =
                "the answer is in \(coding), which the relay cannot look into; ask the upstream for gzip or identity"
            return invalid(status, detail, .httpResponseContentCoding)
        }
        if content.isEmpty {
            if policy.response.empty == .error {
                return invalid(status, "the answer is empty", .emptyResponse)
            }
            guard policy.success.require.isEmpty else {
                return invalid(
                    status,
                    "the answer is empty and success.require looks into it",
                    .emptyResponse
                )
            }
            return .success(nil)
        }
        guard policy.success.inspectsBody || policy.response.unwrap != nil || policy.response.expectsJSON
        else {
            return .success(nil)
        }
        return lookedInto(status, content)
    }

    private func lookedInto(_ status: Status, _ content: Span<UInt8>) -> Finding {
        let policy = route.policy
        let found: [Range<Int>?]
        do throws(JSONError) {
            found = try JSONScan.locate(route.inspected, in: content)
        } catch {
            return invalid(status, "the answer \(error.trouble)", .decoding)
        }
        for (index, rule) in policy.success.fail.enumerated()
        where meets(rule.check.condition, content, found[index]) {
            var failure = Failure(
                rule.kind,
                sent: .answered,
                "the answer's \(rule.check.pointer.text) is what success.fail names \(rule.kind.rawValue)",
                status: status
            )
            failure.isRetryable = rule.isRetryable
            return .invalid(failure)
        }
        for (index, check) in policy.success.require.enumerated()
        where !meets(check.condition, content, found[policy.success.fail.count + index]) {
            return invalid(status, "the answer's \(check.pointer.text) is not what success.require wants")
        }
        guard let unwrap = policy.response.unwrap else { return .success(nil) }
        guard let range = found.last ?? nil else {
            return invalid(status, "the answer has nothing at \(unwrap.text) to unwrap", .decoding)
        }
        return .success(range)
    }

    private func invalid(
        _ status: Status,
        _ detail: String,
        _ kind: FailureKind = .invalidResponse
    ) -> Finding {
        .invalid(Failure(kind, sent: .answered, detail, status: status))
    }

    private func hasWantedType(_ fields: HeaderFields) -> Bool {
        guard let value = fields[.contentType] else { return false }
        let type = value.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        return route.policy.success.contentTypes.contains(type)
    }

    private func meets(_ condition: BodyCheck.Condition, _ content: Span<UInt8>, _ range: Range<Int>?) -> Bool
    {
        switch condition {
        case .exists(let wanted): return (range.map { !isNull(content, $0) } ?? false) == wanted
        case .equals(let wanted):
            guard let range, let value = value(content, range) else { return false }
            return value.isEquivalent(to: wanted)
        case .isOneOf(let wanted):
            guard let range, let value = value(content, range) else { return false }
            return wanted.contains { value.isEquivalent(to: $0) }
        }
    }

    private func isNull(_ content: Span<UInt8>, _ range: Range<Int>) -> Bool {
        range.count == 4 && content[range.lowerBound] == UInt8(ascii: "n")
    }

    private func value(_ content: Span<UInt8>, _ range: Range<Int>) -> JSONValue? {
        let bytes = unsafe content.extracting(range).withUnsafeBufferPointer { unsafe Array($0) }
        return try? JSONValue(parsing: bytes)
    }

    private func text(_ content: Span<UInt8>, _ range: Range<Int>) -> String? {
        switch value(content, range) {
        case .string(let text): text
        case .number(let number): number.text
        default: nil
        }
    }

    /// A code is shown in messages, so only what looks like one is taken for one.
    private func code(_ content: Span<UInt8>, _ range: Range<Int>) -> String? {
        guard let text = text(content, range), !text.isEmpty, text.utf8.count <= 64,
            text.utf8.allSatisfy(isTokenByte)
        else {
            return nil
        }
        return text
    }
}

extension Status {
    /// Whether an answer with that status says that the request was not carried out.
    func refuses(retryAfter: Duration?) -> Bool {
        self.class == .clientError || self == 503 && retryAfter != nil
    }
}

extension Body {
    /// The content where it is in memory, without a byte order mark.
    fileprivate var document: [UInt8]? {
        if case .bytes(let bytes) = self { skippingByteOrderMark(bytes) } else { nil }
    }
}
