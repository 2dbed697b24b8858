import RelayBase

/// Losses of one kind of request only, which say nothing of how many attempts their upstream takes: a window that each of
/// them narrowed would have the others wait.
///
/// A kind is told apart once three of it were lost, none ten seconds after the one before: of the tenth in a row from there
/// on, while others are answered, the window hears no more. It is forgotten ten seconds after its last loss.
struct LossTable: Sendable {
    private struct Row: Sendable {
        /// The method and the kind of the path.
        let name: String
        var count = 0
        var began: Instant
        var last: Instant
    }

    private static let most = 64
    private static let first = 3
    private static let inARow = 10
    private static let memory: Duration = .seconds(10)

    /// Few, mostly one: to look through them costs less than to hash.
    private var rows: [Row] = []
    private var watchedUntil = Instant(nanoseconds: .min / 2)
    private var lastAnswer = Instant(nanoseconds: .min / 2)

    /// Whether answers have to be told, too.
    func isWatching(_ now: Instant) -> Bool { watchedUntil > now }

    /// An attempt has ended that says this of the load.
    ///
    /// - Returns: whether it says so of the upstream, and not of this kind of request alone.
    mutating func ended(_ asked: RequestClass, _ word: WindowMachine.Signal, _ now: Instant) -> Bool {
        switch word {
        case .nothing: return true
        case .fine:
            if let place = rows.firstIndex(where: { $0.name == asked.name }) { rows[place].count = 0 }
            lastAnswer = now
            return true
        case .lost, .tooMuch: return lost(asked.name, now)
        }
    }

    private mutating func lost(_ name: String, _ now: Instant) -> Bool {
        let wasWatching = isWatching(now)
        let place = rows.firstIndex { $0.name == name }
        var row = place.map { rows[$0] } ?? Row(name: name, began: now, last: now)
        if row.count == 0 || row.last.duration(to: now) > LossTable.memory {
            row = Row(name: name, began: now, last: now)
        }
        row.count += 1
        row.last = now
        if wasWatching || row.count >= LossTable.first { watchedUntil = now.advanced(by: LossTable.memory) }
        if !wasWatching, isWatching(now) {
            // Answers from before were not told, so the rows begin here.
            (row.count, row.began) = (1, now)
            rows = [row]
            return true
        }
        if let place {
            rows[place] = row
        } else {
            if rows.count >= LossTable.most { forget(now) }
            guard rows.count < LossTable.most else { return true }
            rows.append(row)
        }
        return row.count < LossTable.inARow || lastAnswer <= row.began
    }

    private mutating func forget(_ now: Instant) {
        rows.removeAll { $0.count == 0 || $0.last.duration(to: now) > LossTable.memory }
    }
}
