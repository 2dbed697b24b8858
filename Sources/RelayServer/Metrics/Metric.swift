import RelayBase
package import RelayJobs

/// One metric as Prometheus knows it: its name, what it tells, and what to do about it.
///
/// A class, since samples are added at so many places: a struct of as many strings is copied at each of them.
package final class Metric: Sendable {
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
        /// Here a number and a sum alone.
        case summary
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
    /// The buckets of a histogram.
    let scale: DurationBuckets
    /// Those of them whose ends are told: each is a series of its own for every route.
    private let told: UInt16

    /// `told` has a bit for each place of the scale.
    init(
        _ name: String,
        _ kind: Kind,
        _ labels: [String],
        _ help: String,
        do advice: String,
        _ scale: DurationBuckets = .latency,
        told: UInt16 = .max
    ) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
        self.advice = advice
        self.scale = scale
        self.told = told
    }

    convenience init(_ name: String, _ kind: Kind, _ help: String, do advice: String) {
        self.init(name, kind, [], help, do: advice)
    }

    /// Whether the end of that bucket is told.
    func tells(_ place: Int) -> Bool { told >> place & 1 == 1 && scale.bounds[place] < .max }

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
