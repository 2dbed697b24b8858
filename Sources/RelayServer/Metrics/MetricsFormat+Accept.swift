import RelayCore

extension MetricsText.Format {
    /// What the caller prefers (RFC 9110 §12.5.1); without a word of it Prometheus' own format.
    init(_ fields: HeaderFields) {
        var best: [MetricsText.Format: Double] = [:]
        for range in fields.values(.accept).flatMap({ $0.split(separator: ",") }) {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            let quality =
                parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch parts.first {
            case "application/openmetrics-text":
                best[.openMetrics] = max(best[.openMetrics] ?? 0, quality)
            case "text/plain", "text/*", "*/*":
                best[.prometheus] = max(best[.prometheus] ?? 0, quality)
            default: break
            }
        }
        // Who names it at all can read it, and learns more by it.
        let wanted = best[.openMetrics] ?? 0
        self = wanted > 0 && wanted >= best[.prometheus] ?? 0 ? .openMetrics : .prometheus
    }
}
