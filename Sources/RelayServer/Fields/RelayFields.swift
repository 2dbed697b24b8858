package import RelayBase
import RelayCore
package import RelayEngine
import RelayInterface
import RelayJobs

/// The fields that callers write for the relay and not for the upstream.
package enum RelayFields {
    /// The name under which the relay stands in `Via`.
    package static let pseudonym = "waystationd"

    /// The fields a caller may send; what the error lists.
    package static let known = all.map(\.name)
}

extension RequestTerms {
    /// Sorts the fields of a request, from which those of the connection are gone already.
    ///
    /// - Throws: `bad_header` for a relay field that is unknown, repeated or not well-formed.
    package init(_ fields: HeaderFields) throws(Problem) {
        self.init(forwarded: HeaderFields())
        var preferences = Preferences()
        var own: OwnFields?
        forwarded = try fields.keeping { (entry) throws(Problem) in
            switch RequestTerms.kind(fields, entry) {
            case .endToEnd: return true
            case .dropped: return false
            case .via: isLoop = isLoop || RequestTerms.namesUs(fields.valueText(entry))
            case .prefer:
                preferences.take(entry, of: fields)
                return false
            case .priority: try priority(fields.valueText(entry))
            case .idempotencyKey: try idempotencyKey(fields.valueText(entry))
            case .relay:
                if own == nil { own = OwnFields() }
                try own?.take(entry, of: fields)
                return false
            }
            return true
        }
        if let own { try take(own) }
        wantsDurable = wantsDurable || preferences.isAsynchronous
        durable.wait = preferences.waitDuration
        durable.isAsynchronous = preferences.isAsynchronous
    }

    private mutating func take(_ own: OwnFields) throws(Problem) {
        let asked = own.options
        if let (first, second) = JobOption.conflict(in: asked) {
            throw Problem(
                .badHeader,
                "\(first.lowercasedField) and \(second.lowercasedField) exclude each other"
            )
        }
        options.timeout = asked.timeout
        options.attemptTimeout = asked.attemptTimeout
        options.maxAttempts = asked.maxAttempts
        options.allowsFallback = asked.fallback ?? true
        options.constrained = asked.constrained ?? .send
        options.labels = asked.writtenLabels
        durable.due =
            asked.delay.map { .after($0) } ?? asked.notBefore.map { .date($0.milliseconds) } ?? .now
        durable.expiresAfter = asked.expiresAfter
        durable.orderingKey = asked.orderingKey
        durable.supersedeKey = asked.supersedeKey
        wantsDurable = own.asksForKeeping
    }
}

/// The relay's own fields of a request, as far as they are read.
private struct OwnFields {
    private(set) var options = SubmissionOptions()
    private(set) var asksForKeeping = false
    /// The options that have stood, as bits.
    private var seen: UInt32 = 0

    mutating func take(_ entry: HeaderFields.Entry, of fields: HeaderFields) throws(Problem) {
        guard let index = JobOption.all.firstIndex(where: { fields.matches(entry, $0.field) }) else {
            throw OwnFields.unknown(fields.nameText(entry).lowercased())
        }
        let option = JobOption.all[index]
        let bit: UInt32 = 1 << UInt32(index)
        guard seen & bit == 0 || option.value.repeats else {
            throw Problem(.badHeader, "\(option.lowercasedField) may stand once, and stands twice")
        }
        seen |= bit
        guard option.value.read(fields.valueText(entry), into: &options) else {
            throw Problem(.badHeader, "\(option.lowercasedField) \(option.value.demand)")
        }
        asksForKeeping = asksForKeeping || option.isForKeeping
    }

    private static func unknown(_ name: String) -> Problem {
        Problem(
            .badHeader,
            "there is no field \(name); the relay reads \(RelayFields.known.joined(separator: ", "))",
            didYouMean: nearestWord(to: name, among: RelayFields.known.map { $0.lowercased() })
        )
    }
}

extension RequestTerms {
    private enum Kind {
        case endToEnd
        case dropped
        case via
        case prefer
        case priority
        case idempotencyKey
        case relay
    }

    /// Most names are told apart by their length alone.
    private static func kind(_ fields: HeaderFields, _ entry: HeaderFields.Entry) -> Kind {
        func isNamed(_ name: FieldName) -> Bool { fields.matches(entry, name) }
        switch Int(entry.nameCount) {
        case 3: if isNamed(.via) { return .via }
        case 4: if isNamed(.host) { return .dropped }
        case 6:
            if isNamed(.expect) { return .dropped }
            if isNamed(.prefer) { return .prefer }
        case 8: if isNamed(.priority) { return .priority }
        case 14: if isNamed(.contentLength) { return .dropped }
        case 15: if isNamed(.idempotencyKey) { return .idempotencyKey }
        default: break
        }
        return fields.isName(of: entry, below: "waystation-") ? .relay : .endToEnd
    }

    /// Whether one of the hops of a `Via` value is this relay (RFC 9110 §7.6.3: protocol, then who received it).
    private static func namesUs(_ via: String) -> Bool {
        via.split(separator: ",").contains { hop in
            hop.split { $0 == " " || $0 == "\t" }.dropFirst().first.map { $0 == RelayFields.pseudonym }
                ?? false
        }
    }
}
