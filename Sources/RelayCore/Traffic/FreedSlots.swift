import RelayBase

/// A turn that was taken ahead of its time.
struct TakenSlot: Hashable, Sendable {
    let at: Instant
    /// When the attempt after it would have been on time before it was taken, and since.
    let before: Instant
    let after: Instant
}

/// Turns to come whose attempts do not go, in the order of their moments: no more than have waited for one.
struct FreedSlots: Sendable {
    private var turns: [TakenSlot] = []

    /// The first that is not over.
    func first(from now: Instant) -> Instant? {
        // Most have none at all.
        if turns.isEmpty { return nil }
        return turns.first { $0.at >= now }?.at
    }

    /// Drops those that are over.
    mutating func forget(before now: Instant) {
        guard let first = turns.first, first.at < now else { return }
        turns.removeFirst(turns.prefix { $0.at < now }.count)
    }

    mutating func add(_ turn: TakenSlot, _ now: Instant) {
        forget(before: now)
        guard turn.at >= now else { return }
        let place = turns.lastIndex { $0.at <= turn.at }.map { $0 + 1 } ?? 0
        turns.insert(turn, at: place)
    }

    /// Takes the one of that moment, where there is one.
    mutating func take(at moment: Instant) -> TakenSlot? {
        turns.firstIndex { $0.at == moment }.map { turns.remove(at: $0) }
    }

    /// Takes the one that the next would have followed then, where it is later than `last`.
    mutating func take(before due: Instant, after last: Instant) -> TakenSlot? {
        turns.lastIndex { $0.after == due && $0.before < due && $0.at > last }.map { turns.remove(at: $0) }
    }
}
