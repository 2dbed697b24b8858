import Synchronization

/// The rows of a table as they were last looked at, so that an asker is told only of those that have changed.
package final class RowMemory: Sendable {
    private struct Memory {
        var names: [String] = []
        /// Of each row the digest, nil until it was looked at, and the number of its latest change.
        var rows: [(digest: Int?, change: Int)] = []
        /// The number of the first look at these names.
        var began = 0
        var latest: Int
    }

    /// One look at the table.
    package struct Look: Sendable {
        /// The `since` of the next one.
        package let number: Int
        fileprivate let began: Int
        fileprivate let since: Int
        /// Whether all rows are told.
        package var isWhole: Bool { since < began || since > number }
    }

    private let memory: Mutex<Memory>

    /// Begun at a moment in milliseconds since 1970, since the numbers of another daemon mean nothing to this one: no daemon
    /// sees a thousand rows change in a millisecond, so that none goes ahead of the clock.
    init(_ moment: Int64) { memory = Mutex(Memory(latest: Int(moment) * 1_000)) }

    package func look(at names: [String], since: Int?) -> Look {
        memory.withLock { memory in
            if memory.names != names || memory.began == 0 {
                memory.latest += 1
                memory.names = names
                memory.rows = Array(repeating: (nil, memory.latest), count: names.count)
                memory.began = memory.latest
            }
            return Look(number: memory.latest, began: memory.began, since: since ?? -1)
        }
    }

    /// Whether the row is to be told, which is so now.
    package func tells(_ index: Int, _ digest: Int, in look: Look) -> Bool {
        memory.withLock { memory in
            guard memory.began == look.began else { return true }
            if let known = memory.rows[index].digest, known != digest {
                memory.latest += 1
                memory.rows[index].change = memory.latest
            }
            memory.rows[index].digest = digest
            return look.isWhole || memory.rows[index].change > look.since
        }
    }
}
