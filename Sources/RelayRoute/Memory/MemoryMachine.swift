/// The one account of the memory that bodies may take.
///
/// Two kinds draw on it. A body that is *collected* waits for its room in turn, before its first byte is read, and then
/// never waits again while it has it. A body that is *held* never waits: it goes to disk or is refused where there is
/// no room within its half. Since the held never take from the other half, whoever waits for it waits only for those
/// who go on by themselves.
package struct MemoryMachine: Sendable {
    package enum Arrival: Hashable, Sendable {
        case granted
        case waits
        /// There never is that much.
        case refused
    }

    /// Bytes in all.
    package private(set) var limit: Int
    package private(set) var collected = 0
    package private(set) var held = 0
    private var queue: [(id: UInt64, bytes: Int)] = []

    package init(limit: Int) { self.limit = limit }

    package var used: Int { collected + held }
    package var waiting: Int { queue.count }
    /// The most that can be collected at once, and that can be held.
    package var half: Int { limit / 2 }

    /// Somebody wants to collect so many bytes.
    package mutating func arrived(_ id: UInt64, _ bytes: Int) -> Arrival {
        guard bytes <= half else { return .refused }
        guard queue.isEmpty, fits(bytes) else {
            queue.append((id, bytes))
            return .waits
        }
        collected += bytes
        return .granted
    }

    /// Somebody who waits gave up.
    ///
    /// - Returns: whether it still waited, and who is let in because it did.
    package mutating func gaveUp(_ id: UInt64) -> (waited: Bool, admitted: [UInt64]) {
        guard let index = queue.firstIndex(where: { $0.id == id }) else { return (false, []) }
        queue.remove(at: index)
        return (true, admit())
    }

    /// Holds so many bytes, if there is room for them now.
    package mutating func reserve(_ bytes: Int) -> Bool {
        guard held + bytes <= half, used + bytes <= limit else { return false }
        held += bytes
        return true
    }

    /// Counts what is held already, whether there is room or not.
    package mutating func reserveUnchecked(_ bytes: Int) { held += bytes }

    /// - Returns: who is let in by it.
    package mutating func gaveBack(collected: Int = 0, held: Int = 0) -> [UInt64] {
        self.collected -= collected
        self.held -= held
        return admit()
    }

    /// The limit is another.
    ///
    /// - Returns: who is let in by it, and who waits for what there is no longer.
    package mutating func configured(limit: Int) -> (admitted: [UInt64], refused: [UInt64]) {
        self.limit = limit
        let half = half
        let refused = queue.filter { $0.bytes > half }.map(\.id)
        queue.removeAll { $0.bytes > half }
        return (admit(), refused)
    }

    /// The bytes that are held count at most for their half.
    private func fits(_ bytes: Int) -> Bool { collected + min(held, half) + bytes <= limit }

    private mutating func admit() -> [UInt64] {
        var admitted: [UInt64] = []
        while let next = queue.first, fits(next.bytes) {
            queue.removeFirst()
            collected += next.bytes
            admitted.append(next.id)
        }
        return admitted
    }
}
