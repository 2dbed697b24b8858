import RelayBase
import RelayRoute

/// The facts of one failed attempt, worked out from what the upstream is known to have done.
struct Facts {
    /// Before `error_types`.
    var raw: FailureKind
    var kind: FailureKind
    var sent: Sent
    var status: UInt16?
    var treatedAs: UInt16?
    var isRetryable: Bool?
    var hasCode = false
    /// Whether `quick_recovery` may see it.
    var isRefusal = true
    var retryAfter: Int64?

    init(_ kind: FailureKind, _ sent: Sent, status: UInt16? = nil) {
        raw = kind
        (self.kind, self.sent, self.status) = (kind, sent, status)
    }

    private static func invalid(_ kind: FailureKind, _ status: UInt16) -> Facts {
        var facts = Facts(kind, .answered, status: status)
        facts.isRefusal = false
        return facts
    }

    /// Nil for a success.
    ///
    /// `isInMemory` tells that the core has all of the content.
    static func of(_ answer: Answer, isInMemory: Bool, method: Method, policy: RoutePolicy) -> Facts? {
        let status = answer.status
        guard (200..<600).contains(status) else { return Facts(.httpProtocolError, .answered) }
        let document = isInMemory ? answer.document : .empty
        if let rule = policy.apiError, rule.statuses.has(status), document.isError {
            var facts = Facts(.apiError, .answered, status: status)
            facts.hasCode = rule.code != nil
            return facts
        }
        guard policy.success.statuses.has(status) else {
            return Facts(.httpStatus, .answered, status: status)
        }
        if method == .head { return nil }
        if status == 204 || status == 304 {
            // A status that is named is a success of its own; a class was not written with it in mind.
            let isNamed = policy.success.statuses.codes.contains(status)
            let wantsContent = policy.response.empty == .error || !policy.success.require.isEmpty
            return !wantsContent || isNamed ? nil : invalid(.emptyResponse, status)
        }
        return invalidity(answer, document, policy)
    }

    private static func invalidity(_ answer: Answer, _ document: Document, _ policy: RoutePolicy) -> Facts? {
        let (status, success) = (answer.status, policy.success)
        if !success.contentTypes.isEmpty, !answer.isJSON { return invalid(.invalidResponse, status) }
        guard policy.looksInside else { return nil }
        if document == .empty {
            let isWrong = policy.response.empty == .error || !success.require.isEmpty
            return isWrong ? invalid(.emptyResponse, status) : nil
        }
        let unwraps = policy.response.unwrap != nil
        guard !success.fail.isEmpty || !success.require.isEmpty || unwraps || policy.response.expectsJSON
        else { return nil }
        guard document.isJSON else { return invalid(.decoding, status) }
        if document.saysFailed, let rule = success.fail.first {
            var facts = invalid(rule.kind, status)
            facts.isRetryable = rule.isRetryable
            return facts
        }
        if !success.require.isEmpty, !document.hasOK { return invalid(.invalidResponse, status) }
        return unwraps && !document.hasOK ? invalid(.decoding, status) : nil
    }

    /// Works out whether an answer says that the request was not carried out, once its `Retry-After` is known.
    mutating func judgeRefusal(_ policy: RoutePolicy) {
        guard sent == .answered, let status, !policy.success.statuses.has(status), says(status) else {
            return
        }
        sent = .refused
    }

    private func says(_ status: UInt16) -> Bool {
        (400..<500).contains(status) || status == 503 && retryAfter != nil
    }

    var mayHaveActed: Bool { sent != .neverSent && sent != .refused }

    mutating func name(_ rules: [ErrorTypeRule]) {
        guard raw != .cancelled, raw != .preparation else { return }
        for rule in rules {
            if let on = rule.on, !on.catches(raw, status, isExhausted: false) { continue }
            if !rule.apiCodes.isEmpty, !hasCode || !rule.apiCodes.contains("E42") { continue }
            kind = rule.kind
            treatedAs = rule.treatAsStatus?.rawValue
            if let treatedAs, sent != .neverSent, sent != .unknown {
                sent = says(treatedAs) ? .refused : .answered
            }
            return
        }
    }

    /// Whether another request to the same upstream would likely fare no better, whatever the route calls it.
    var blamesUpstream: Bool {
        if let status { return status >= 500 }
        let families: [FailureGroup] = [.connection, .timeout, .dns, .tls, .protocol]
        return FailureMatcher(families.map { .group($0) }).catches(raw, nil, isExhausted: false)
    }

    func isCaught(by matcher: FailureMatcher, isExhausted: Bool) -> Bool {
        matcher.catches(kind, treatedAs ?? status, isExhausted: isExhausted)
    }
}

extension RoutePolicy {
    var looksInside: Bool {
        apiError != nil || !success.require.isEmpty || !success.fail.isEmpty || response.unwrap != nil
            || response.expectsJSON || response.empty == .error
    }
}

extension StatusSet {
    func has(_ status: UInt16) -> Bool {
        isAny || codes.contains(status) || classes.contains { UInt16($0.rawValue) == status / 100 }
    }
}

extension FailureMatcher {
    func catches(_ kind: FailureKind, _ status: UInt16?, isExhausted: Bool) -> Bool {
        if kind == .cancelled { return false }
        return tokens.contains { token in
            switch token {
            case .any: true
            case .exhausted: isExhausted
            case .status(let wanted): status == wanted.rawValue
            case .statusClass(let wanted): status.map { $0 / 100 == UInt16(wanted.rawValue) } ?? false
            case .group(let group): family(group).contains(kind.rawValue)
            case .kind(let wanted): kind == wanted
            }
        }
    }

    private func family(_ group: FailureGroup) -> [String] {
        switch group {
        case .connection:
            [
                "connection_refused", "connection_terminated", "connection_timeout",
                "connection_limit_reached",
                "destination_unavailable", "dns_error", "dns_timeout",
            ]
        case .timeout:
            [
                "connection_timeout", "connection_read_timeout", "connection_write_timeout",
                "http_response_timeout",
                "dns_timeout",
            ]
        case .dns: ["dns_error", "dns_timeout"]
        case .tls: ["tls_protocol_error", "tls_certificate_error", "tls_alert_received"]
        case .protocol:
            [
                "http_protocol_error", "http_response_incomplete", "http_response_body_size",
                "http_response_header_section_size", "http_response_content_coding",
            ]
        }
    }
}
