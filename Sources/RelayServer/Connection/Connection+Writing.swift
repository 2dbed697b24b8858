import RelayPosix
import RelayRoute

extension Connection {
    /// Sends `bytes`, behind what is still unsent; what the socket will not take now goes out as it can.
    func send(_ bytes: Span<UInt8>) {
        guard phase != .closed, !bytes.isEmpty else { return }
        guard unsent.isEmpty else {
            bytes.append(to: &unsent)
            return count(unsent: bytes.count)
        }
        var offset = 0
        while offset < bytes.count {
            switch Socket.send(descriptor, bytes.extracting(offset..<bytes.count)) {
            case .bytes(let count): offset += count
            case .failed: return abort()
            case .wouldBlock:
                unsent = bytes.copied(from: offset)
                unsentOffset = 0
                count(unsent: unsent.count)
                loop.watch(self, for: [.stream, .writable])
                return setDeadline(server.limits.writeStall)
            }
        }
    }

    /// Sends a head and, from where it stands, what follows it; of what the socket will not take now only little is kept.
    ///
    /// - Returns: how many bytes of what follows are out or kept.
    func send(_ head: Span<UInt8>, lent body: Span<UInt8>) -> Int {
        guard phase != .closed else { return 0 }
        var written = 0
        if unsent.isEmpty {
            let result = unsafe head.withUnsafeBytes { head in
                unsafe body.withUnsafeBytes { unsafe Socket.send(descriptor, head, $0) }
            }
            if case .bytes(let count) = result { written = count }
        }
        send(head.extracting(min(written, head.count)...))
        let taken = max(0, written - head.count)
        guard body.count <= ChunkedBytes.size else { return taken }
        send(body.extracting(taken...))
        return body.count
    }

    /// The socket has room again.
    func flush() {
        guard unsentOffset < unsent.count else { return }
        while unsentOffset < unsent.count {
            switch Socket.send(descriptor, unsent.span.extracting(unsentOffset..<unsent.count)) {
            case .bytes(let count):
                unsentOffset += count
                setDeadline(server.limits.writeStall)
            case .failed: return abort()
            case .wouldBlock: return
            }
        }
        unsent = []
        unsentOffset = 0
        unsentReservation = nil
        loop.watch(self, for: .stream)
        if phase == .lingering {
            setDeadline(server.limits.linger)
            return finishSending()
        }
        if phase == .busy { clearDeadline() }
        drained.take()?.resume(returning: true)
        if passage == nil { passingIsOver() } else { goOnPassing() }
    }

    private func count(unsent bytes: Int) {
        guard listener.control == nil else { return }
        if let unsentReservation { return unsentReservation.grow(by: bytes) }
        unsentReservation = server.memory.reserveUnchecked(bytes)
        unsentReservation?.charge(to: share)
    }

    /// Waits until the socket has taken everything.
    ///
    /// - Returns: false when the caller is gone.
    func drainOutput() async -> Bool {
        guard phase != .closed else { return false }
        guard !unsent.isEmpty else { return true }
        return await withCheckedContinuation { drained = $0 }
    }
}
