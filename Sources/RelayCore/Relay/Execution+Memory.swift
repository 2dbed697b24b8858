import RelayBase
import RelayRoute

// Room for an answer that is to be collected; until there is some, its sender is held back.
extension Execution {
    /// Bytes that the account of memory allows an answer whose length nobody knows, where the route allows more.
    func boundingHalf(_ source: any BodySource, limit: Int) -> Int? {
        guard source.length == nil, let half = ports.memory?.usage.half, half < limit else { return nil }
        return half
    }

    /// Waits for room in the account, at most until the attempt's deadline.
    ///
    /// - Returns: false when there is none, and the machine has been told.
    @inline(never)
    func reserveMemory(for source: any BodySource, limit: Int) async -> Bool {
        guard let memory = ports.memory else { return true }
        // An answer that is too large is refused for its size, and takes nothing.
        if let length = source.length, length > UInt64(limit) { return true }
        let wanted = source.length.map { Int($0) } ?? limit
        guard wanted > MemoryAccount.free else { return true }
        // Nobody waits for memory who has some.
        if reservation != nil {
            reservation = nil
            machine.letGo()
        }
        let half = memory.usage.half
        if wanted <= half { reservation = await memoryInTurn(wanted, in: memory) }
        if let reservation {
            reservation.charge(to: context.share)
            return true
        }
        source.cancel()
        machine.foundNoMemory(wanted, half: half, moment)
        return false
    }

    /// Takes room that nobody has to wait for.
    ///
    /// - Returns: false when there is none.
    func reserveAtOnce(_ wanted: Int) -> Bool {
        guard let memory = ports.memory, wanted > MemoryAccount.free else { return true }
        if reservation != nil {
            reservation = nil
            machine.letGo()
        }
        reservation = memory.reserve(wanted)
        reservation?.charge(to: context.share)
        return reservation != nil
    }

    /// Counts what is held where room for `wanted` bytes was taken; the last piece may have brought more.
    func count(_ held: Int, of wanted: Int) {
        if wanted <= MemoryAccount.free {
            guard held > MemoryAccount.free else { return }
            reservation = ports.memory?.reserveUnchecked(held)
            reservation?.charge(to: context.share)
        } else if held > wanted {
            reservation?.grow(by: held - wanted)
        } else {
            reservation?.shrink(to: held)
        }
    }

    /// A job of a stream is due memory in its turn only; before it takes what nobody has to wait for.
    private func memoryInTurn(_ wanted: Int, in memory: MemoryAccount) async -> MemoryReservation? {
        let deadline = deadline
        if let ticket, !ticket.take() {
            if let reservation = memory.reserve(wanted) { return reservation }
            let isTaken = await cancelling(at: deadline, ports.time) { await ticket.wait() }
            guard isTaken else { return nil }
        }
        return await memory.collect(wanted, by: deadline, ports.time)
    }
}
