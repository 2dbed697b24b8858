import RelayBase

/// The way in which the demo's upstream treats a request.
enum ScriptedAnswer {
    case answer(Status, fields: [(name: String, value: String)] = [], body: String = "")
    /// A head, a byte, and silence.
    case stall
    /// The request is taken and the connection ends without a word.
    case hangUp

    static func json(_ body: String, status: Status = 200) -> ScriptedAnswer {
        .answer(status, fields: [("Content-Type", "application/json")], body: body)
    }
}

/// The upstream's part: a service per first path segment, each with its own fault.
struct UpstreamScript {
    /// Requests seen so far, by path; what asks for a token counts under `/token`.
    private(set) var seen: [String: Int] = [:]

    mutating func answer(to path: String, authorization: String?) -> ScriptedAnswer {
        let count = (seen[path] ?? 0) + 1
        seen[path] = count
        let service = path.split(separator: "/").first.map { String($0) } ?? ""
        switch service {
        case "good": return .json(#"{"item": 42, "in_stock": true}"#)
        case "busy":
            guard count > 1 else {
                return .answer(503, fields: [("Retry-After", "1")], body: "please come back later\n")
            }
            return .json(#"{"report": "ready"}"#)
        case "token":
            return .json(#"{"access_token": "demo-\#(count)", "token_type": "Bearer", "expires_in": 3600}"#)
        case "account":
            // The first token was "revoked": only later ones count.
            guard let authorization, authorization.hasPrefix("Bearer demo-"), authorization != "Bearer demo-1"
            else { return .json(#"{"error": "token revoked"}"#, status: 401) }
            return .json(#"{"balance": 17}"#)
        case "rates":
            guard count > 1 else { return .json(#"{"status": {"code": 7, "text": "busy"}, "data": null}"#) }
            return .json(#"{"status": {"code": 0, "text": "ok"}, "data": {"EUR": 1.08}}"#)
        case "sign-in": return .answer(302, fields: [("Location", "/home?session=new")])
        case "feed": return .stall
        case "orders":
            // The first order of each path is taken, and its answer lost.
            guard count > 1 else { return .hangUp }
            return .json(#"{"order": 8841, "accepted": true}"#, status: 201)
        default: return .answer(404)
        }
    }
}
