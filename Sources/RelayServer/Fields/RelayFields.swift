package import RelayBase
import RelayCore
package import RelayEngine
import RelayInterface

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
        var seen = RelayField.Set()
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
                guard let field = RelayField(entry, of: fields) else {
                    throw RequestTerms.unknown(fields.nameText(entry).lowercased())
                }
                guard seen.insert(field) || field.repeats else {
                    throw Problem(.badHeader, "\(field.lowercasedName) may stand once, and stands twice")
                }
                try take(field, entry, of: fields)
                return false
            }
            return true
        }
        wantsDurable = wantsDurable || preferences.isAsynchronous
        durable.wait = preferences.waitDuration
        durable.isAsynchronous = preferences.isAsynchronous
    }

    private mutating func take(
        _ field: RelayField,
        _ entry: HeaderFields.Entry,
        of fields: HeaderFields
    ) throws(Problem) {
        switch field {
        case .timeout: options.timeout = try duration(field, entry, fields)
        case .attemptTimeout: options.attemptTimeout = try duration(field, entry, fields)
        case .maxAttempts: options.maxAttempts = try attempts(field, fields.valueText(entry))
        case .fallback: options.allowsFallback = try isOn(field, fields.valueText(entry))
        case .label: try label(field, fields.valueText(entry))
        case .delay, .notBefore: try due(field, entry, fields)
        case .expiresAfter: durable.expiresAfter = try bounded(field, entry, fields, from: .seconds(1))
        case .orderingKey: durable.orderingKey = try key(field, fields.valueText(entry))
        case .supersedeKey: durable.supersedeKey = try key(field, fields.valueText(entry))
        }
        wantsDurable = wantsDurable || field.isForKeeping
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

    private func attempts(_ field: RelayField, _ value: String) throws(Problem) -> Int {
        guard let count = Int(value), RequestTerms.attempts.contains(count) else {
            throw Problem(.badHeader, "\(field.lowercasedName) must be a whole number from 1 to 100")
        }
        return count
    }

    private func isOn(_ field: RelayField, _ value: String) throws(Problem) -> Bool {
        guard value == "on" || value == "off" else {
            throw Problem(.badHeader, "\(field.lowercasedName) must be on or off")
        }
        return value == "on"
    }

    private mutating func label(_ field: RelayField, _ value: String) throws(Problem) {
        guard options.labels.count < RequestTerms.mostLabels, value.utf8.count <= 256, value.contains("="),
            !value.hasPrefix("=")
        else {
            throw Problem(
                .badHeader,
                "\(field.lowercasedName) is key=value, at most 256 bytes, at most 16 times"
            )
        }
        options.labels.append(value)
    }

    private static func unknown(_ name: String) -> Problem {
        Problem(
            .badHeader,
            "there is no field \(name); the relay reads \(RelayFields.known.joined(separator: ", "))",
            didYouMean: nearestWord(to: name, among: RelayFields.known.map { $0.lowercased() })
        )
    }

    /// Whether one of the hops of a `Via` value is this relay (RFC 9110 §7.6.3: protocol, then who received it).
    private static func namesUs(_ via: String) -> Bool {
        via.split(separator: ",").contains { hop in
            hop.split { $0 == " " || $0 == "\t" }.dropFirst().first.map { $0 == RelayFields.pseudonym }
                ?? false
        }
    }

    private func duration(
        _ field: RelayField,
        _ entry: HeaderFields.Entry,
        _ fields: HeaderFields
    ) throws(Problem) -> Duration {
        guard let duration = fields.withValue(entry, { DurationText.parse($0) }), duration > .zero,
            duration <= RequestTerms.longest
        else {
            throw Problem(
                .badHeader,
                "\(field.lowercasedName) must be a duration with a unit, such as 250ms, 20s or 1m30s, of at most 365d"
            )
        }
        return duration
    }
}
