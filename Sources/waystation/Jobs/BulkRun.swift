import RelayBase
import RelayJSON

/// An action on every job that matches: counted call by call, and carried on by the daemon.
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
    /// The words for others.
    let reason: String?
    let isQuiet: Bool

    /// Jobs of one call.
    private static let usual = 1_000
    /// The largest number that the API takes as what was seen.
    private static let mostSeen: Int64 = 10_000

    /// Counts what it would change.
    func counted() throws(CommandFailure) -> Count {
        let progress = Progress("counting jobs", isQuiet: isQuiet)
        defer { progress.end() }
        var count = Count()
        var cursor: String?
        repeat {
            var members = members
            members.append(JSONValue.Member("dry_run", .bool(true)))
            members.append(JSONValue.Member("limit", .number(JSONNumber(BulkRun.usual))))
            if let cursor { members.append(JSONValue.Member("cursor", .string(cursor))) }
            let body = JSONValue.object(members).encoded()
            let answer = try DaemonAccess.parse(try daemon.change(.post, "/v1/jobs/actions", body))
            count += Count(answer)
            cursor = answer["next"]?.text
            progress.update("counting jobs: \(count.matched)")
        } while cursor != nil
        return count
    }

    /// Has the daemon begin, or do nothing where another number matches than was counted.
    func begin(_ counted: Count?) throws(CommandFailure) -> RunDocument {
        var members = members
        if let counted {
            let seen = Int(min(counted.matched, BulkRun.mostSeen))
            members.append(JSONValue.Member("seen", .number(JSONNumber(seen))))
        }
        if let reason { members.append(JSONValue.Member("reason", .string(reason))) }
        let body = JSONValue.object(members).encoded()
        return RunDocument(try DaemonAccess.parse(try daemon.change(.post, "/v1/runs", body)))
    }

    private var members: [JSONValue.Member] {
        var members = [
            JSONValue.Member("action", .string(action.rawValue)),
            JSONValue.Member("filter", .object(filter.filter)),
        ]
        if takesUnknown { members.append(JSONValue.Member("unknown", .bool(true))) }
        if takesSuperseded { members.append(JSONValue.Member("superseded", .bool(true))) }
        if let rate { members.append(JSONValue.Member("rate", .string(rate.text))) }
        return members
    }
}

extension BulkRun.Count {
    init(_ answer: JSONValue) {
        for (name, number) in Self.members { self[keyPath: number] = answer[name]?.integer ?? 0 }
    }

    static func += (sum: inout Self, more: Self) {
        for (_, number) in Self.members { sum[keyPath: number] += more[keyPath: number] }
    }

    func text(_ action: JobActionWord?, isDryRun: Bool) -> String {
        let done = action?.done ?? "changed"
        var text = matched == 1 ? "1 job matches" : "\(matched) jobs match"
        text += isDryRun ? ", \(changed) would be \(done)" : ", \(changed) \(done)"
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
        return text
    }

    func document(_ action: JobActionWord, isDryRun: Bool) -> [UInt8] {
        var json = JSONObjectWriter()
        json.member("action", action.rawValue)
        json.member("dry_run", isDryRun)
        for (name, number) in Self.members { json.member(name, self[keyPath: number]) }
        return json.bytes + [UInt8(ascii: "\n")]
    }
}
