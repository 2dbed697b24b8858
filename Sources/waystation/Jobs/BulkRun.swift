import Glibc
import RelayBase
import RelayJSON

/// Acts on every job that matches, call by call, and tells how far it is.
struct BulkRun {
    /// The numbers of the jobs so far.
    struct Count {
        var matched: Int64 = 0
        var changed: Int64 = 0
        /// Running jobs that were asked to end.
        var asked: Int64 = 0
        /// Jobs whose bodies are gone, so that they cannot be sent again.
        var expired: Int64 = 0
        /// Jobs that may have been carried out.
        var leftAlone: Int64 = 0
        /// Jobs whose place a newer one took.
        var superseded: Int64 = 0

        /// The numbers by the members of the API's documents.
        fileprivate static var members: KeyValuePairs<String, WritableKeyPath<Count, Int64>> {
            [
                "matched": \.matched, "changed": \.changed, "asked": \.asked, "body_expired": \.expired,
                "left_alone": \.leftAlone, "superseded": \.superseded,
            ]
        }
    }

    let daemon: DaemonAccess
    let action: JobActionWord
    let filter: WhereClause
    let rate: JobRate?
    /// Whether jobs that may have been carried out are retried too.
    let takesUnknown: Bool
    /// Whether those are retried too whose place a newer one took.
    let takesSuperseded: Bool
    let isQuiet: Bool

    /// Jobs of one call; with a rate as many as the API takes, because each call spaces its own jobs.
    private static let usual = 1_000
    private static let most = 10_000

    func perform(isDryRun: Bool) throws(CommandFailure) -> Count {
        let verb = isDryRun ? "counting jobs" : action.rawValue
        let progress = Progress(verb, isQuiet: isQuiet)
        defer { progress.end() }
        var count = Count()
        var cursor: String?
        repeat {
            let before = count.changed
            let response = try daemon.change(.post, "/v1/jobs/actions", body(isDryRun: isDryRun, cursor))
            let answer = try DaemonAccess.parse(response)
            for (name, number) in Count.members { count[keyPath: number] += answer[name]?.integer ?? 0 }
            cursor = answer["next"]?.text
            progress.update("\(verb): \(isDryRun ? count.matched : count.changed) jobs")
            if let rate, !isDryRun, cursor != nil {
                // The next call spaces its jobs from the moment it is made.
                wait(Double(count.changed - before) / rate.perSecond)
            }
        } while cursor != nil
        return count
    }

    func body(isDryRun: Bool, _ cursor: String?) -> [UInt8] {
        var members = [
            JSONValue.Member("action", .string(action.rawValue)),
            JSONValue.Member("filter", .object(filter.filter)),
            JSONValue.Member("dry_run", .bool(isDryRun)),
            JSONValue.Member("limit", .number(JSONNumber(rate == nil ? BulkRun.usual : BulkRun.most))),
        ]
        if takesUnknown { members.append(JSONValue.Member("unknown", .bool(true))) }
        if takesSuperseded { members.append(JSONValue.Member("superseded", .bool(true))) }
        if let rate { members.append(JSONValue.Member("rate", .string(rate.text))) }
        if let cursor { members.append(JSONValue.Member("cursor", .string(cursor))) }
        return JSONValue.object(members).encoded()
    }

    private func wait(_ seconds: Double) {
        var left = seconds
        while left > 0 {
            _ = poll(nil, 0, Int32(min(left, 1) * 1_000))
            left -= 1
        }
    }
}

extension BulkRun.Count {
    func text(_ action: JobActionWord, isDryRun: Bool) -> String {
        var text = matched == 1 ? "1 job matches" : "\(matched) jobs match"
        text += isDryRun ? ", \(changed) would be \(action.done)" : ", \(changed) \(action.done)"
        if asked > 0 { text += ", \(asked) running asked to end" }
        if expired > 0 { text += ", \(expired) not: their bodies are no longer kept" }
        if leftAlone > 0 {
            text +=
                ", \(leftAlone) left alone: they may have been carried out; ask the upstream first, then say --unknown"
        }
        if superseded > 0 {
            text +=
                ", \(superseded) left alone: a newer job took their place, and they would be sent after it; say "
                + "--superseded where that is wanted"
        }
        return text + "\n"
    }

    func document(_ action: JobActionWord, isDryRun: Bool) -> [UInt8] {
        var json = JSONObjectWriter()
        json.member("action", action.rawValue)
        json.member("dry_run", isDryRun)
        for (name, number) in Self.members { json.member(name, self[keyPath: number]) }
        return json.bytes + [UInt8(ascii: "\n")]
    }
}
