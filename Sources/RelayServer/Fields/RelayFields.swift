package import RelayCore
package import RelayEngine

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
        var saysSomething = false
        let forwarded = fields.keeping { entry in
            let kind = RequestTerms.kind(fields, entry)
            saysSomething = saysSomething || kind != .endToEnd && kind != .dropped
            return kind != .dropped && kind != .prefer && kind != .relay
        }
        self.init(forwarded: forwarded)
        if saysSomething { try take(fields) }
    }

    private mutating func take(_ fields: HeaderFields) throws(Problem) {
        // Ten at most: an unknown name ends it.
        var seen: [String] = []
        var preferences = Preferences()
        for entry in fields.entries {
            switch RequestTerms.kind(fields, entry) {
            case .endToEnd, .dropped: continue
            case .via: isLoop = isLoop || RequestTerms.namesUs(fields.valueText(entry))
            case .prefer: preferences.take(fields.valueText(entry))
            case .priority: try priority(fields.valueText(entry))
            case .idempotencyKey: try idempotencyKey(fields.valueText(entry))
            case .relay:
                let name = fields.nameText(entry).lowercased()
                if name != "waystation-label" {
                    guard !seen.contains(name) else {
                        throw Problem(.badHeader, "\(name) may stand once, and stands twice")
                    }
                    seen.append(name)
                }
                let value = fields.valueText(entry)
                if try durableOption(name, value) { continue }
                try option(name, value)
            }
        }
        wantsDurable = wantsDurable || preferences.isAsynchronous
        durable.wait = preferences.waitDuration
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

    private mutating func option(_ name: String, _ value: String) throws(Problem) {
        switch name {
        case "waystation-timeout": options.timeout = try RequestTerms.duration(name, value)
        case "waystation-attempt-timeout": options.attemptTimeout = try RequestTerms.duration(name, value)
        case "waystation-max-attempts":
            guard let count = Int(value), RequestTerms.attempts.contains(count) else {
                throw Problem(.badHeader, "\(name) must be a whole number from 1 to 100")
            }
            options.maxAttempts = count
        case "waystation-fallback":
            guard value == "on" || value == "off" else {
                throw Problem(.badHeader, "\(name) must be on or off")
            }
            options.allowsFallback = value == "on"
        case "waystation-label":
            guard options.labels.count < RequestTerms.mostLabels, value.utf8.count <= 256,
                value.contains("="),
                !value.hasPrefix("=")
            else {
                throw Problem(.badHeader, "\(name) is key=value, at most 256 bytes, at most 16 times")
            }
            options.labels.append(value)
        default:
            throw Problem(
                .badHeader,
                "there is no field \(name); the relay reads \(RelayFields.known.joined(separator: ", "))",
                didYouMean: nearestWord(to: name, among: RelayFields.known.map { $0.lowercased() })
            )
        }
    }

    /// Whether one of the hops of a `Via` value is this relay (RFC 9110 §7.6.3: protocol, then who received it).
    private static func namesUs(_ via: String) -> Bool {
        via.split(separator: ",").contains { hop in
            hop.split { $0 == " " || $0 == "\t" }.dropFirst().first.map { $0 == RelayFields.pseudonym }
                ?? false
        }
    }

    private static func duration(_ name: String, _ value: String) throws(Problem) -> Duration {
        guard let duration = DurationText.parse(value), duration > .zero, duration <= longest else {
            throw Problem(
                .badHeader,
                "\(name) must be a duration with a unit, such as 250ms, 20s or 1m30s, of at most 365d"
            )
        }
        return duration
    }
}
