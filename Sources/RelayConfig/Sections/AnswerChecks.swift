import RelayBase
import RelayJSON
import RelayRoute

extension RouteCheck {
    /// Reports a failure that `success.fail` never names, since `api_error` has the same answers before it.
    func checkErrorDocuments(_ reading: inout ReadContext) {
        guard let document = policy.apiError, let list = node["success"]?.value["fail"]?.value.elements,
            // A draft leaves refused entries out, and the places are the node's.
            list.count == policy.success.fail.count,
            (UInt16(200)..<600).contains(where: { code in
                let status = Status(rawValue: code)
                return document.statuses.contains(status) && policy.success.statuses.contains(status)
            })
        else { return }
        for (index, entry) in policy.success.fail.enumerated()
        where entry.check.condition.isMetByContent {
            let place = entry.check.pointer.text
            guard
                let required = document.require.first(where: {
                    place == $0.text || place.hasPrefix($0.text + "/")
                })
            else { continue }
            reading.warn(
                "api_error, which is asked first, takes answers with \(required.text) and makes them api_error",
                at: node.location("success", "fail", "\(index)", "json"),
                hint: "name the failure in \"error_types\" by its \"api_code\", or remove one of the two"
            )
        }
    }

    /// A quick recovery makes a success: an answer that tells of a failure is none, unless the route takes it for one.
    func checkQuickAnswers(_ reading: inout ReadContext) {
        guard let list = node["quick_recovery"]?.value else { return }
        for (index, element) in list.elements.enumerated() {
            guard case .number(let number)? = element["as"]?.value["status"]?.value.content,
                let code = number.int64, (400...599).contains(code)
            else { continue }
            if policy.success.statuses.contains(Status(rawValue: UInt16(code))) { continue }
            reading.error(
                "a quick recovery makes a success of a failure, and \(code) tells of a failure",
                at: node.location("quick_recovery", "\(index)", "as", "status"),
                hint: "write a status below 400, or answer with a rule of \"recovery\": "
                    + "\"respond\": {\"as\": \"fallback\", \"status\": \(code)}"
            )
        }
    }
}

extension BodyCheck.Condition {
    /// Whether something that is not null may meet it.
    fileprivate var isMetByContent: Bool {
        switch self {
        case .exists(let wanted): wanted
        case .equals(let value): !value.isNull
        case .isOneOf(let values): !values.allSatisfy(\.isNull)
        }
    }
}

extension JSONValue {
    fileprivate var isNull: Bool {
        if case .null = self { true } else { false }
    }
}
