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
    private var slots: [TakenSlot] = []

    /// The first that is not over.
    func first(from now: Instant) -> Instant? {
        // Most have none at all.
        if slots.isEmpty { return nil }
        return slots.first { $0.at >= now }?.at
    }

    /// Drops those that are over.
    mutating func forget(before now: Instant) {
        guard let first = slots.first, first.at < now else { return }
        slots.removeFirst(slots.prefix { $0.at < now }.count)
    }

    mutating func add(_ turn: TakenSlot, _ now: Instant) {
        forget(before: now)
        guard turn.at >= now else { return }
        let place = slots.lastIndex { $0.at <= turn.at }.map { $0 + 1 } ?? 0
        slots.insert(turn, at: place)
    }

    /// Takes the one of that moment, where there is one.
    mutating func take(at moment: Instant) -> TakenSlot? {
        slots.firstIndex { $0.at == moment }.map { slots.remove(at: $0) }
    }

    /// Takes the one that the next would have followed then, where it is later than `last`.
    mutating func take(before due: Instant, after last: Instant) -> TakenSlot? {
        slots.lastIndex { $0.after == due && $0.before < due && $0.at > last }.map { slots.remove(at: $0) }
    }
}
