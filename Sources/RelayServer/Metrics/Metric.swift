import RelayBase
package import RelayJobs

/// One metric as Prometheus knows it: its name, what it tells, and what to do about it.
package struct Metric: Sendable {
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    /// Of a counter without its `_total`.
    package let name: String
    package let kind: Kind
    /// The names of its labels; their values are words of the configuration or of the manual, never a job's, a path's or
    /// a user's.
    package let labels: [String]
    /// One sentence.
    package let help: String
    /// The step that an operator takes about it.
    package let advice: String

    init(_ name: String, _ kind: Kind, _ labels: [String], _ help: String, do advice: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
        self.advice = advice
    }

    init(_ name: String, _ kind: Kind, _ help: String, do advice: String) {
        self.init(name, kind, [], help, do: advice)
    }

    /// As samples and queries have it, but for the parts of a histogram.
    package var fullName: String { kind == .counter ? name + "_total" : name }
}

extension Metric {
    /// In the order they are told in.
    package static let all = requests + attempts + jobs + credentials + storage + service + process
}

extension EventKind {
    /// The counter that the row names, and the value of its label.
    package var counter: (metric: Metric, result: String)? {
        guard let words = rawValue.line("Counter: ")?.split(separator: " "),
            let metric = Metric.all.first(where: { $0.name == words[0] })
        else { return nil }
        return (metric, String(words[1]))
    }
}
