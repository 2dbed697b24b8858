package import RelayBase
package import RelayCore

/// The metrics as they are at a moment, in the text that Prometheus reads.
///
/// Samples may be added in any order; they are told by metric.
package struct MetricsText {
    package enum Format: Hashable, Sendable {
        /// Prometheus' text format 0.0.4.
        case prometheus
        /// OpenMetrics 1.0, with exemplars.
        case openMetrics

        package var type: StaticString {
            switch self {
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    private let format: Format
    private var samples: [String: [UInt8]] = [:]

    package init(_ format: Format) { self.format = format }

    /// All of it.
    package var bytes: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(samples.values.reduce(0) { $0 + $1.count } + Metric.all.count * 160)
        for metric in Metric.all {
            guard let lines = samples[metric.name] else { continue }
            // OpenMetrics names the family of a counter without what its samples end with.
            let name = format == .openMetrics ? metric.name : metric.fullName
            text += "# HELP \(name) \(metric.help)\n# TYPE \(name) \(metric.kind.rawValue)\n".utf8
            text += lines
        }
        if format == .openMetrics { text += "# EOF\n".utf8 }
        return text
    }

    // There are a hundred callers: what each of them does not have to have of its own is kept here.
    @inline(never)
    package mutating func add(_ metric: Metric, _ labels: [String], _ value: some BinaryInteger) {
        add(metric, labels, text: String(value))
    }

    package mutating func add(_ metric: Metric, _ value: some BinaryInteger) { add(metric, [], value) }

    @inline(never)
    package mutating func add(_ metric: Metric, _ labels: [String], _ value: Bool) {
        add(metric, labels, value ? 1 : 0)
    }

    package mutating func add(_ metric: Metric, _ value: Bool) { add(metric, [], value) }

    package mutating func add(_ metric: Metric, _ labels: [String] = [], seconds value: Double) {
        add(metric, labels, text: value.isFinite ? "\(value)" : "NaN")
    }

    @inline(never)
    private mutating func add(_ metric: Metric, _ labels: [String], text: String) {
        append(metric, metric.fullName, MetricsText.pairs(metric.labels, labels), text)
    }

    @inline(never)
    private mutating func append(_ metric: Metric, _ name: String, _ pairs: String, _ rest: String) {
        samples[metric.name, default: []] += "\(name)\(pairs.isEmpty ? "" : "{\(pairs)}") \(rest)\n".utf8
    }

    /// A count for each of those labels, in their order.
    package mutating func add(_ metric: Metric, _ counts: [[String]: UInt64]) {
        for (labels, count) in counts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            add(metric, labels, count)
        }
    }

    /// A number of durations and their sum.
    package mutating func add(_ metric: Metric, _ labels: [String], _ count: UInt64, _ microseconds: UInt64) {
        let pairs = MetricsText.pairs(metric.labels, labels)
        append(metric, metric.name + "_sum", pairs, MetricsText.seconds(microseconds))
        append(metric, metric.name + "_count", pairs, String(count))
    }

    /// A histogram; `exemplars` go by bucket.
    package mutating func add(
        _ metric: Metric,
        _ labels: [String],
        _ counts: DurationCounts,
        exemplars: [TraceExemplar?] = []
    ) {
        let pairs = MetricsText.pairs(metric.labels, labels)
        let separator = pairs.isEmpty ? "" : ","
        var sum: UInt64 = 0
        for place in 0..<DurationBuckets.count {
            sum &+= counts.buckets[place]
            let isLast = place == DurationBuckets.count - 1
            guard isLast || metric.tells(place) else { continue }
            let end = isLast ? "+Inf" : MetricsText.seconds(metric.scale.bounds[place])
            var rest = String(sum)
            if format == .openMetrics, exemplars.indices.contains(place), let exemplar = exemplars[place] {
                rest +=
                    " # {trace_id=\"\(exemplar.trace.text)\"} \(MetricsText.seconds(exemplar.microseconds))"
                rest += " \(Double(exemplar.wall) / 1_000)"
            }
            append(metric, metric.name + "_bucket", "\(pairs)\(separator)le=\"\(end)\"", rest)
        }
        add(metric, labels, sum, counts.microseconds)
    }

    private static func seconds(_ microseconds: UInt64) -> String { "\(Double(microseconds) / 1_000_000)" }

    private static func pairs(_ names: [String], _ values: [String]) -> String {
        precondition(names.count == values.count, "a metric has a value for each of its labels")
        return zip(names, values).map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
    }

    /// The value as it stands between quotes.
    private static func escaped(_ value: String) -> String {
        guard
            value.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") || $0 == 0x0A })
        else { return value }
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
