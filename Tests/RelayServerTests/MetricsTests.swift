import RelayBase
import RelayCore
import Testing

@testable import RelayServer

@Suite("The metrics as text")
struct MetricsTests {
    private func text(
        _ format: MetricsText.Format = .prometheus,
        _ add: (inout MetricsText) -> Void
    ) -> String {
        var text = MetricsText(format)
        add(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test("A counter has its ending in its samples, and in its name where that is Prometheus' own format")
    func counter() {
        let plain = text { $0.add(.reloads, ["success"], 3) }
        #expect(plain.contains("# TYPE waystation_config_reloads_total counter\n"))
        #expect(plain.hasSuffix("waystation_config_reloads_total{result=\"success\"} 3\n"))
        let open = text(.openMetrics) { $0.add(.reloads, ["success"], 3) }
        #expect(open.contains("# TYPE waystation_config_reloads counter\n"))
        #expect(open.hasSuffix("waystation_config_reloads_total{result=\"success\"} 3\n# EOF\n"))
    }

    @Test(
        "A label's value has its quotes, backslashes and line ends escaped",
        arguments: [("a\"b", "a\\\"b"), ("a\\b", "a\\\\b"), ("a\nb", "a\\nb"), ("é", "é")]
    )
    func escaping(_ value: String, _ written: String) {
        let told = text { $0.add(.storeInfo, [value], 1) }
        #expect(told.hasSuffix("{directory=\"\(written)\"} 1\n"))
    }

    @Test("Samples of one metric stand together, in whatever order they came")
    func order() {
        let told = text { text in
            text.add(.paused, ["a"], true)
            text.add(.constrained, false)
            text.add(.paused, ["b"], false)
        }
        let samples = told.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            samples == [
                "waystation_route_paused{route=\"a\"} 1", "waystation_route_paused{route=\"b\"} 0",
                "waystation_constrained 0",
            ]
        )
    }

    @Test("A histogram counts up to each end, with exemplars in OpenMetrics alone")
    func histogram() throws {
        var counts = DurationCounts()
        (counts.buckets[0], counts.buckets[2], counts.buckets[15], counts.microseconds) = (
            2, 1, 1, 70_000_000
        )
        let trace = try #require(TraceID(parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let exemplar = TraceExemplar(trace: trace, microseconds: 500, wall: 1_795_424_024_250)
        func told(_ format: MetricsText.Format) -> String {
            text(format) { $0.add(.requestDuration, ["r"], counts, exemplars: [exemplar]) }
        }
        let plain = told(.prometheus)
        #expect(plain.contains("_bucket{route=\"r\",le=\"0.001\"} 2\n"))
        #expect(plain.contains("_bucket{route=\"r\",le=\"60.0\"} 3\n"))
        #expect(plain.contains("_bucket{route=\"r\",le=\"+Inf\"} 4\n"))
        #expect(plain.contains("_sum{route=\"r\"} 70.0\n") && plain.contains("_count{route=\"r\"} 4\n"))
        #expect(!plain.contains("trace_id"))
        let wanted =
            "le=\"0.001\"} 2 # {trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\"} 0.0005 1795424024.25\n"
        #expect(told(.openMetrics).contains(wanted))
    }

    @Test(
        "A histogram tells only the ends that it has, or that are asked for, and counts all that is below each"
    )
    func told() {
        var counts = DurationCounts()
        for place in 0..<DurationBuckets.count { counts.buckets[place] = 1 }
        func ends(_ metric: Metric, _ labels: [String]) -> [Substring] {
            text { $0.add(metric, labels, counts) }.split(separator: "\n")
                .filter { $0.contains("_bucket") }
                .map { $0.drop { $0 != "," }.dropFirst(5).filter { $0 != "\"" && $0 != "}" }[...] }
        }
        #expect(
            ends(.permitWait, ["r"]) == [
                "0.01 1", "0.1 2", "1.0 3", "10.0 4", "60.0 5", "3600.0 6", "+Inf 16",
            ]
        )
        #expect(ends(.startDelay, ["r"]) == ends(.permitWait, ["r"]))
        #expect(ends(.requestDuration, ["r"]).count == 16)
        #expect(
            ends(.jobDuration, ["r"]) == [
                "1.0 3", "10.0 5", "60.0 7", "900.0 9", "3600.0 11", "43200.0 13", "+Inf 16",
            ]
        )
        let attempts = text { $0.add(.attemptDuration, ["r", "u"], counts) }.split(separator: "\n")
        let bounds = [
            "0.001": 1, "0.005": 3, "0.01": 4, "0.05": 6, "0.1": 7, "0.5": 9, "1.0": 10, "5.0": 12,
            "10.0": 13,
            "30.0": 14, "60.0": 15, "+Inf": 16,
        ]
        #expect(attempts.count { $0.contains("_bucket") } == bounds.count)
        for (end, count) in bounds { #expect(attempts.contains { $0.hasSuffix("le=\"\(end)\"} \(count)") }) }
        let commits = text { $0.add(.storeCommitDuration, [], counts) }
        #expect(commits.contains("_bucket{le=\"5e-05\"} 1\n"))
    }

    @Test(
        "The format is the one the reader prefers",
        arguments: [
            ("", MetricsText.Format.prometheus), ("text/plain", .prometheus), ("*/*", .prometheus),
            ("application/openmetrics-text; version=1.0.0", .openMetrics),
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                .openMetrics
            ),
            ("text/plain, application/openmetrics-text;q=0.5", .prometheus),
            ("application/openmetrics-text;q=0, text/plain;q=0.1", .prometheus),
            ("application/openmetrics-text;q=nonsense", .prometheus), ("application/json", .prometheus),
        ]
    )
    func format(_ accept: String, _ format: MetricsText.Format) {
        var fields = HeaderFields()
        if !accept.isEmpty { fields.append("Accept", accept) }
        #expect(MetricsText.Format(fields) == format)
    }

    @Test("Every name is its own, and made as Prometheus wants them")
    func names() {
        #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
        let labels: Set = [
            "route", "outcome", "code", "rule", "action", "upstream", "result", "kind", "state", "reason",
            "credential", "use",
            "directory", "listener", "file", "digest", "version",
        ]
        for metric in Metric.all {
            #expect(metric.name.hasPrefix("waystation_") || metric.name.hasPrefix("process_"))
            #expect(!metric.name.hasSuffix("_total") && metric.help.hasSuffix("."), "\(metric.name)")
            #expect(labels.isSuperset(of: metric.labels), "\(metric.name)")
            #expect(!metric.help.contains("\n") && !metric.help.contains("\\"), "\(metric.name)")
        }
    }
}
