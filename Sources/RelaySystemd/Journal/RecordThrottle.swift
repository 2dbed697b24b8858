/// Keeps a failing route from filling the journal: per route and kind the first records of a minute are written in
/// full, the others counted and told in one.
package struct RecordThrottle: Sendable {
    /// The records that are counted together.
    package struct Key: Hashable, Sendable {
        package var route: String
        package var kind: String
        /// Which records; nil for all of the route and kind together.
        package var id: MessageID?

        package init(route: String, kind: String, id: MessageID? = nil) {
            self.route = route
            self.kind = kind
            self.id = id
        }
    }

    /// Records that were counted instead of written.
    package struct Summary: Sendable, Equatable {
        package var key: Key
        package var count: Int

        package init(key: Key, count: Int) {
            self.key = key
            self.count = count
        }

        package var record: JournalRecord {
            let name = key.id.map { "\($0.name) records of " } ?? ""
            var record = JournalRecord(
                .notice,
                .recordsSuppressed,
                "and \(count) more \(name)\(key.kind) on route \(key.route) in the last minute"
            )
            record.add(.route, key.route)
            record.add(.failureKind, key.kind)
            record.add(.count, count)
            return record
        }
    }

    private struct Window {
        var ends: Int64
        var written = 0
        var suppressed = 0

        mutating func admits(_ allowance: Int) -> Bool {
            guard written < allowance else {
                suppressed += 1
                return false
            }
            written += 1
            return true
        }
    }

    private static let length: Int64 = 60_000_000_000

    private let allowance: Int
    private let maxKeys: Int
    private var windows: [Key: Window] = [:]

    /// - Parameters:
    ///   - allowance: records written in full per key and minute.
    ///   - maxKeys: keys kept at once; further ones share a single window.
    package init(allowance: Int = 10, maxKeys: Int = 1024) {
        self.allowance = allowance
        self.maxKeys = maxKeys
    }

    /// A record wants to be written.
    ///
    /// - Parameters:
    ///   - key: what it is about.
    ///   - now: monotonic nanoseconds.
    /// - Returns: whether it is to be written; ask `windowsEnded` first, so that the summaries stand before it.
    package mutating func admits(_ key: Key, at now: Int64) -> Bool {
        let isKept = windows.count < maxKeys || windows[key] != nil
        let slot = isKept ? key : Key(route: "(others)", kind: "records")
        let end = now.addingReportingOverflow(Self.length).partialValue
        return windows[slot, default: Window(ends: end)].admits(allowance)
    }

    /// The moment `windowsEnded` has something to do, in monotonic nanoseconds; nil when nothing is open.
    package var due: Int64? { windows.values.lazy.map(\.ends).min() }

    /// Closes the windows whose minute is over.
    ///
    /// - Returns: one summary for each in which something was counted, in the order of route and kind.
    package mutating func windowsEnded(at now: Int64) -> [Summary] {
        guard let due, due <= now else { return [] }
        var summaries: [Summary] = []
        for (key, window) in windows where window.ends <= now {
            windows[key] = nil
            if window.suppressed > 0 { summaries.append(Summary(key: key, count: window.suppressed)) }
        }
        return summaries.sorted { a, b in
            (a.key.route, a.key.kind, a.key.id?.text ?? "") < (b.key.route, b.key.kind, b.key.id?.text ?? "")
        }
    }

    /// Closes every window; for the end of the process.
    package mutating func finish() -> [Summary] { windowsEnded(at: .max) }
}
