package import RelayBase
import RelayJSON

extension ResponseJudge {
    /// The success the first matching `quick_recovery` rule makes of a failure; nil when none matches.
    ///
    /// Nothing looks into it any more: neither `api_error` nor `success`.
    package func quickRecovery(_ failure: Failure, _ response: HTTPResponse?) -> HTTPResponse? {
        let rule = route.policy.quickRecovery.first { rule in
            rule.on.matches(failure, isExhausted: false)
                && (rule.methods.isEmpty || rule.methods.contains(method))
        }
        guard let rule else { return nil }
        var fields = HeaderFields()
        for field in rule.fields { fields.append(field.name, field.value) }
        guard let template = rule.json else { return HTTPResponse(status: rule.status, fields: fields) }
        if !fields.contains(.contentType) { fields.append("Content-Type", "application/json") }
        let filled = fill(template, response)
        return HTTPResponse(status: rule.status, fields: fields, body: .bytes(filled.encoded()))
    }

    private func fill(_ template: JSONValue, _ response: HTTPResponse?) -> JSONValue {
        switch template {
        case .array(let elements): return .array(elements.map { fill($0, response) })
        case .object(let members):
            if members.count == 1, let only = members.first {
                switch (only.name, only.value) {
                case ("$header", .string(let name)):
                    return FieldName(name).flatMap { response?.fields[$0] }.map { .string($0) } ?? .null
                case ("$status", .bool(true)):
                    return response.map { .number(JSONNumber(text: "\($0.status.rawValue)")) } ?? .null
                default: break
                }
            }
            return .object(members.map { JSONValue.Member($0.name, fill($0.value, response)) })
        default: return template
        }
    }
}
