import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayJSON
import RelayJobs
import RelayRoute

@testable import RelayServer

private let parameters: [any QueryParameter] = JobListing.parameters + [JobLook.wait]

func checkQuery(_ text: [UInt8]) {
    guard let query = Query.read(text) else { return }
    let again = query.target(replacing: "cursor", with: query["cursor"] ?? "c1")
    guard let reread = Query.read(Array(again.drop { $0 != "?" }.dropFirst().utf8)) else {
        preconditionFailure("a query that was read is refused when it is written: \(again)")
    }
    for name in parameters.map(\.name) where name != "cursor" || query["cursor"] != nil {
        precondition(reread[name] == query[name], "\(name) changes")
    }
    if let moment = try? query.value(JobListing.createdAfter) {
        precondition((0...lastMoment).contains(moment))
    }
    if let limit = try? query.value(JobListing.limit) { precondition((1...500).contains(limit)) }
    if let wait = try? query.value(JobLook.wait) {
        precondition(wait >= .zero && wait <= Preferences.longestWait)
    }
    if let states = try? query.value(JobListing.state), let text = query["state"] {
        precondition(states.map(\.name).joined(separator: ",") == text, "states change")
    }
    if let reason = try? query.value(JobListing.reason) {
        precondition(reason.name == query["reason"], "a reason changes")
    }
}

extension Query {
    /// As a request's head brings it.
    fileprivate static func read(_ text: [UInt8]) -> Query? {
        let head = Array("GET /v1/jobs?".utf8) + text + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        var parser = RequestHeadParser()
        guard case .head(let head, _)? = try? parser.parse(head.span),
            let call = try? APICall(head, role: .admin),
            case .jobs = call.resource
        else { return nil }
        return try? Query(call.target, parameters)
    }
}

func checkBulk(_ document: [UInt8]) {
    guard let action = try? BulkAction(document) else { return }
    precondition((1...BulkAction.mostJobs).contains(action.limit), "a limit out of bounds")
    precondition(
        action.rate.map { $0.perSecond > 0 && $0.count <= 9_999_999 } ?? true,
        "a rate out of bounds"
    )
    let filter = action.filter
    for moment in [filter.createdFrom, filter.createdBefore] {
        precondition(moment.map { (0...lastMoment).contains($0) } ?? true, "a time out of bounds")
    }
    for text in [filter.route, filter.label, filter.upstream, filter.failureKind?.rawValue] {
        precondition(text.map { (1...256).contains($0.utf8.count) } ?? true, "a text out of bounds")
    }
    precondition(filter.ids.count <= 1_000)
    guard let again = try? BulkAction(written(action)) else {
        preconditionFailure("an action that was read is refused when it is written")
    }
    precondition(
        again.action == action.action && again.filter == filter && again.isDryRun == action.isDryRun
            && again.limit == action.limit && again.cursor == action.cursor,
        "an action changes"
    )
}

private func written(_ action: BulkAction) -> [UInt8] {
    var json = JSONObjectWriter()
    json.member("action", action.action.rawValue)
    json.member("dry_run", action.isDryRun)
    json.member("limit", action.limit)
    if let cursor = action.cursor { json.member("cursor", cursor.text) }
    action.filter.write("filter", into: &json)
    return json.bytes
}

func checkBreaker(_ document: [UInt8]) {
    guard let order = try? BreakerOrder(document) else { return }
    precondition((.seconds(1) ... .seconds(86_400)).contains(order.duration), "a time out of bounds")
    var json = JSONObjectWriter()
    json.member("state", order.order?.rawValue ?? "auto")
    if let upstream = order.upstream { json.member("upstream", upstream) }
    json.member("for", DurationText.text(order.duration))
    guard let again = try? BreakerOrder(json.bytes) else {
        preconditionFailure("an order that was read is refused when it is written")
    }
    precondition(
        again.order == order.order && again.upstream == order.upstream && again.duration == order.duration,
        "an order changes"
    )
    guard case .string(let word)? = (try? JSONValue(parsing: document))?["state"] else {
        preconditionFailure("an order is accepted that names no state")
    }
    precondition(order.order?.rawValue ?? "auto" == word, "a state is taken for another")
}

/// The fields of an accepted document are accepted too: the gate refuses nothing more, but a key of the caller's own.
func checkSubmission(_ document: [UInt8]) {
    guard let submission = try? Submission(document), let value = try? JSONValue(parsing: document) else {
        return
    }
    let target = "/" + submission.target
    precondition(
        (try? RelayTarget.remainder(of: target))?.text == submission.target,
        "a target reads otherwise: \(target)"
    )
    if submission.fields.contains(.idempotencyKey) { return }
    guard let read = try? RequestTerms(submission.fields) else {
        preconditionFailure("a document is accepted, and its fields are not")
    }
    let options = value["options"]
    if case .object(let labels)? = options?["labels"] {
        let told = labels.map { label in
            guard case .string(let text) = label.value else { preconditionFailure("a label is no text") }
            return "\(label.name)=\(text)"
        }
        precondition(read.options.labels == told, "labels change")
    }
    for (name, key) in [
        ("ordering_key", read.durable.orderingKey), ("supersede_key", read.durable.supersedeKey),
    ] {
        guard case .string(let text)? = options?[name] else { continue }
        precondition(key == text, "\(name) changes")
    }
    for (name, duration) in [
        ("timeout", read.options.timeout), ("attempt_timeout", read.options.attemptTimeout),
        ("expires_after", read.durable.expiresAfter),
    ] {
        guard case .string(let text)? = options?[name] else { continue }
        precondition(duration == DurationText.parse(text), "\(name) changes")
    }
    if case .date(let date) = read.durable.due {
        precondition((0...lastMoment).contains(date), "a date out of bounds")
    }
    precondition(read.durable.priority <= 7 && (read.options.maxAttempts ?? 1) <= 100)
}
