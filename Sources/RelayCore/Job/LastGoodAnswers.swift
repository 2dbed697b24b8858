package import RelayBase

/// Which requests get the same answer: the target and every field by which an upstream may vary it.
///
/// A field nobody has heard of may be a caller's credential, so it is part of the key.
package struct AnswerKey: Hashable, Sendable {
    private let text: [UInt8]

    /// Fields that name a request or the way it came and change no answer; one that varies by them is not kept.
    static let ignored: Set<FieldName> = Set(
        [
            "baggage", "cache-control", "content-length", "date", "forwarded", "idempotency-key", "pragma",
            "priority", "traceparent", "tracestate", "user-agent", "via", "webhook-id", "x-correlation-id",
            "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id",
        ].compactMap(FieldName.init)
    )

    /// Nil when the answer may be the caller's alone, or part of one: nothing is then kept and nothing found.
    package init?(_ request: HTTPRequest) {
        guard request.method == .get, case .empty = request.body else { return nil }
        var fields: [(name: String, value: String)] = []
        for (name, value) in request.fields.pairs {
            guard let field = FieldName(name), !AnswerKey.personal.contains(field) else { return nil }
            if !AnswerKey.ignored.contains(field) { fields.append((field.lowercasedText, value)) }
        }
        var text = Array(request.target.utf8)
        // Values of one name keep their order; names have none.
        for name in Set(fields.map(\.name)).sorted() {
            text.append(10)
            text += name.utf8
            for field in fields where field.name == name {
                text.append(0)
                text += field.value.utf8
            }
        }
        self.text = text
    }

    private static let personal: [FieldName] =
        [.authorization] + ["cookie", "range"].compactMap(FieldName.init)

    var count: Int { text.count }
}

/// The last good answers of one route, bounded in number and bytes; the one unused longest makes room.
package struct LastGoodAnswers: Sendable {
    private struct Kept {
        let response: HTTPResponse
        let size: Int
        let at: Instant
        var usedAt: UInt64
    }

    private var kept: [AnswerKey: Kept] = [:]
    private var uses: UInt64 = 0
    /// Bytes of bodies, fields and keys.
    package private(set) var bytes = 0

    /// Answers kept for one route.
    package static let capacity = 256
    /// Bytes of one answer.
    package static let answerLimit = 1_048_576
    /// Bytes of all answers of one route.
    package static let byteLimit = 16 * 1_048_576

    package init() {}

    /// Keeps `response`; nothing happens when it is too large or says that it is not to be kept (RFC 9111 §3).
    package mutating func keep(_ response: HTTPResponse, for key: AnswerKey, now: Instant) {
        let size = key.count + response.fields.storage.count + response.bytes.count
        guard size <= LastGoodAnswers.answerLimit, response.mayBeKept else { return }
        forget(key)
        while kept.count >= LastGoodAnswers.capacity || bytes + size > LastGoodAnswers.byteLimit {
            guard let oldest = kept.min(by: { $0.value.usedAt < $1.value.usedAt }) else { break }
            forget(oldest.key)
        }
        uses += 1
        kept[key] = Kept(response: response, size: size, at: now, usedAt: uses)
        bytes += size
    }

    /// The kept answer, with its `Age` (RFC 9111 §5.1); nil when there is none or it is older than `maxAge`.
    package mutating func answer(for key: AnswerKey, maxAge: Duration, now: Instant) -> HTTPResponse? {
        guard let found = kept[key] else { return nil }
        let age = found.at.duration(to: now)
        guard age < maxAge else {
            forget(key)
            return nil
        }
        uses += 1
        kept[key]?.usedAt = uses
        var response = found.response
        response.fields.set("Age", String(max(0, age.components.seconds) + response.ageOnArrival))
        return response
    }

    private mutating func forget(_ key: AnswerKey) {
        guard let old = kept.removeValue(forKey: key) else { return }
        bytes -= old.size
    }
}

extension HTTPResponse {
    /// Seconds it had spent in other caches; 0 where its `Age` is no number of less than ten digits.
    fileprivate var ageOnArrival: Int64 {
        guard let name = FieldName("age"), let text = fields[name], text.utf8.count < 10,
            text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else { return 0 }
        return Int64(text) ?? 0
    }

    /// Whether the answer may be kept and given to another caller of the same route.
    fileprivate var mayBeKept: Bool {
        guard status != 206, FieldName("set-cookie").map({ !fields.contains($0) }) ?? true else {
            return false
        }
        for value in FieldName("cache-control").map(fields.values) ?? [] {
            let directives = value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" || $0 == "=" }
            if directives.contains("no-store") || directives.contains("private") { return false }
        }
        for value in FieldName("vary").map(fields.values) ?? [] {
            for name in value.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
                guard name != "*", let field = FieldName(String(name)), !AnswerKey.ignored.contains(field)
                else {
                    return false
                }
            }
        }
        return true
    }
}
