import RelayBase

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
