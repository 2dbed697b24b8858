import RelayInterface

/// The members of a job's two objects, and what somebody is told who puts them into another.
enum SubmissionHints {
    static let requestMembers = ["method", "path", "query", "headers", "json", "text", "base64"]

    static let optionMembers = JobOption.all.map(\.member)

    /// Those of a job that is kept.
    static let keepingOptions = JobOption.all.filter(\.isForKeeping).map(\.member)

    /// Beside `route`: what belongs into `request` or `options`.
    static let outside: [String: String] =
        memberHints(requestMembers, "/request").merging(memberHints(optionMembers, "/options")) { first, _ in
            first
        }
        .merging(["body": "use json, text or base64 of /request", "idempotency_key": key]) { first, _ in first
        }

    /// In `request`: what belongs into `options` or beside `route`, and usual names of other interfaces.
    static let inRequest: [String: String] =
        memberHints(optionMembers, "/options").merging([
            "body": "use json, text or base64",
            "data": "use json, text or base64",
            "url": "use path, which stands below the upstream's base",
            "route": "did you mean \"/route\"?",
            "idempotency_key": key,
        ]) { first, _ in first }

    /// In `options`: what belongs into `request` or beside `route`.
    static let inOptions: [String: String] = memberHints(requestMembers, "/request").merging([
        "idempotency_key": key, "label": "did you mean \"labels\"?", "mode": "did you mean \"/mode\"?",
    ]) { first, _ in first }

    private static let key = "the key is the header Idempotency-Key, of /request/headers"

    private static func memberHints(_ names: [String], _ object: String) -> [String: String] {
        Dictionary(names.map { ($0, "did you mean \"\(object)/\($0)\"?") }) { first, _ in first }
    }
}
