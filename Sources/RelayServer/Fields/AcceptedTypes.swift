import RelayBase

/// The media types a caller reads, as its `Accept` has them, or the codings of its `Accept-Encoding` (RFC 9110 §12.5).
struct AcceptedTypes {
    private var qualities: [String: Double] = [:]

    init(_ fields: HeaderFields, _ name: FieldName = .accept) {
        for range in fields.values(name).flatMap({ $0.split(separator: ",") }) {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let type = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
            let quality = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            qualities[type] = max(qualities[type] ?? 0, quality)
        }
    }

    /// Whether the caller has said nothing of it.
    var isEmpty: Bool { qualities.isEmpty }

    /// How much it wants what that range names, from 0 to 1; nil where it does not name the range.
    func quality(naming range: String) -> Double? { qualities[range] }

    /// Whether it wants that type more than anything else it names.
    func prefer(_ type: String) -> Bool {
        guard let wish = qualities[type], wish > 0 else { return false }
        return qualities.allSatisfy { $0.key == type || $0.value < wish }
    }

    /// How much it wants that type, by the most precise range it names: 0 is not at all.
    func quality(of type: String) -> Double {
        let kind = type.prefix { $0 != "/" } + "/*"
        return qualities[type] ?? qualities[String(kind)] ?? qualities["*/*"] ?? 0
    }
}

extension MetricsText.Format {
    /// The format that the caller prefers; without a word of it Prometheus' own format.
    init(_ fields: HeaderFields) {
        let accepted = AcceptedTypes(fields)
        // A caller that names it at all can read it, and learns more by it.
        let wanted = accepted.quality(naming: "application/openmetrics-text") ?? 0
        let plain = ["text/plain", "text/*", "*/*"].compactMap { accepted.quality(naming: $0) }.max() ?? 0
        self = wanted > 0 && wanted >= plain ? .openMetrics : .prometheus
    }
}
