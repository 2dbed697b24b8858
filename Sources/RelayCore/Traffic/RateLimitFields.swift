import RelayBase
import RelayJSON

/// An answer's word on the upstream's own limit: how long nothing is left of it.
///
/// Read are `RateLimit` (draft-ietf-httpapi-ratelimit-headers, `"name";r=0;t=30`, and its older form `limit=100, remaining=0,
/// reset=30`), and `RateLimit-`, `X-RateLimit-` and `X-Rate-Limit-` with `Remaining` and `Reset`: in seconds, or, above a
/// thousand million, as seconds or milliseconds since 1970 UTC. A malformed field says nothing.
enum RateLimitFields {
    private static let policy = FieldName("ratelimit")
    private static let pairs: [(remaining: FieldName, reset: FieldName)] = [
        "ratelimit", "x-ratelimit", "x-rate-limit",
    ]
    .compactMap { prefix in
        guard let remaining = FieldName(prefix + "-remaining"), let reset = FieldName(prefix + "-reset")
        else {
            return nil
        }
        return (remaining, reset)
    }
    private static let all = FieldName.Marks(pairs.map(\.remaining) + [policy].compactMap(\.self))

    private static let resourceName = FieldName("x-ratelimit-resource")

    /// The name that the upstream has for the limit, at most 64 bytes; nil where it has none.
    static func resource(_ fields: HeaderFields) -> String? {
        guard let resourceName, let name = fields[resourceName]?.trimmingBlanks, !name.isEmpty,
            name.utf8.count <= 64
        else { return nil }
        return name
    }

    /// How long nothing is left; nil when something is, or nothing is said.
    static func hold(_ fields: HeaderFields, wallMilliseconds: Int64) -> HoldTable.RequestedWait? {
        guard fields.mayContain(all),
            let wait = wait(of: fields, wallMilliseconds: wallMilliseconds)
        else { return nil }
        return HoldTable.RequestedWait(wait: wait, resource: resource(fields))
    }

    private static func wait(of fields: HeaderFields, wallMilliseconds: Int64) -> Duration? {
        if let policy, let wait = fields.values(policy).compactMap(listed).max() { return wait }
        for pair in pairs {
            guard fields[pair.remaining].flatMap(whole) == 0, let reset = fields[pair.reset].flatMap(seconds)
            else { continue }
            return wait(reset, wallMilliseconds)
        }
        return nil
    }

    /// The longest wait that a list of policies names whose share is used up.
    private static func listed(_ value: String) -> Duration? {
        var waits: [Double] = []
        var old: (remaining: Double?, reset: Double?)
        for member in value.split(separator: ",") {
            var (remaining, reset): (Double?, Double?)
            for part in member.split(separator: ";") {
                let word = String(part).trimmingBlanks.split(separator: "=", maxSplits: 1)
                guard word.count == 2 else { continue }
                switch word[0].lowercased() {
                case "r": remaining = whole(String(word[1]))
                case "t": reset = whole(String(word[1]))
                case "remaining": old.remaining = whole(String(word[1]))
                case "reset": old.reset = whole(String(word[1]))
                default: continue
                }
            }
            if remaining == 0, let reset { waits.append(reset) }
        }
        if old.remaining == 0, let reset = old.reset { waits.append(reset) }
        return waits.max().flatMap { $0 > 0 ? .seconds($0) : nil }
    }

    private static func wait(_ reset: Double, _ wallMilliseconds: Int64) -> Duration? {
        let now = Double(wallMilliseconds) / 1000
        let seconds =
            if reset >= 1e12 { reset / 1000 - now } else if reset >= 1e9 { reset - now } else { reset }
        return seconds > 0 ? .seconds(min(seconds, 315_360_000)) : nil
    }

    private static func whole(_ text: String) -> Double? {
        let text = text.trimmingBlanks
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isDigit }) else { return nil }
        return Double(text)
    }

    private static func seconds(_ text: String) -> Double? {
        let text = text.trimmingBlanks
        guard (1...20).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(text)
    }
}
