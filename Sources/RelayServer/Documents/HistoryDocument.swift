package import RelayBase
package import RelayEngine
import RelayInterface
import RelayJSON

/// An hour of figures of the routes, in columns of a minute.
package struct HistoryDocument {
    package let bytes: [UInt8]

    static let route = TextParameter(name: "route", schema: .queryText, doc: "Tells of this route alone.")

    /// Of the routes named, which the configuration has.
    package init(_ names: [String], _ engine: Engine, _ clock: any ClockSource) {
        let (history, snapshot) = (engine.history.present, engine.snapshot)
        var json = JSONObjectWriter()
        json.member("interval_ms", HistoryMachine.interval.saturatedNanoseconds / 1_000_000)
        let age = history.age(clock.now()).saturatedNanoseconds / 1_000_000
        json.moment("began_at", clock.wallMilliseconds() - age)
        json.member("columns", history.count)
        json.array("routes") { list in
            for name in names {
                guard let entry = snapshot.routes[name] else { continue }
                let columns = history.columns(of: name, HistoryMachine.Totals(entry))
                list.object { HistoryDocument.write(name, columns, into: &$0) }
            }
        }
        bytes = json.bytes
    }

    private static func write(
        _ name: String,
        _ columns: [HistoryMachine.Column],
        into json: inout JSONObjectWriter
    ) {
        json.member("name", name)
        let counts: KeyValuePairs<String, KeyPath<HistoryMachine.Column, UInt32>> = [
            "requests": \.requests, "failures": \.failures, "fallbacks": \.fallbacks, "attempts": \.attempts,
            "failed_attempts": \.failedAttempts,
        ]
        for (member, path) in counts {
            json.array(member) { list in for column in columns { list.element(Int64(column[keyPath: path])) }
            }
        }
        let durations: KeyValuePairs<String, KeyPath<HistoryMachine.Column, Float?>> = [
            "p50_ms": \.median, "p99_ms": \.p99, "attempt_p50_ms": \.attemptMedian,
            "attempt_p99_ms": \.attemptP99,
        ]
        for (member, path) in durations {
            json.array(member) { list in
                for column in columns { list.element(json: HistoryDocument.number(column[keyPath: path])) }
            }
        }
    }

    /// With a tenth of a millisecond.
    private static func number(_ milliseconds: Float?) -> [UInt8] {
        guard let milliseconds else { return Array("null".utf8) }
        let tenths = Int64((milliseconds * 10).rounded())
        return Array("\(tenths / 10).\(tenths % 10)".utf8)
    }
}
