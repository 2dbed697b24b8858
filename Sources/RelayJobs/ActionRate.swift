/// Jobs in a time, as people say it: `50/s`, `100/m`, `5/h`.
package struct ActionRate: Hashable, Sendable {
    package var count: Int
    /// One of the units' letters.
    package var unit: Unit

    package enum Unit: String, CaseIterable, Sendable {
        case second = "s"
        case minute = "m"
        case hour = "h"
    }

    /// Nil for any other text, and for none at all.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count <= 7, let count = Int(parts[0]), count > 0,
            let unit = Unit(rawValue: String(parts[1]))
        else { return nil }
        (self.count, self.unit) = (count, unit)
    }

    package var text: String { "\(count)/\(unit.rawValue)" }

    package var perSecond: Double {
        switch unit {
        case .second: Double(count)
        case .minute: Double(count) / 60
        case .hour: Double(count) / 3_600
        }
    }

    /// The time from one job to the next.
    package var interval: Duration { .nanoseconds(Int64(1e9 / perSecond)) }
}
