import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayPosix

extension LineStream {
    enum Reading {
        case line(LineSplitter.Line)
        /// There is none that has come already and for whose outcome there is room.
        case later
        /// There is none to come.
        case end
    }

    /// The next line, once there is room for its outcome; what takes time is not waited for unless `waits`.
    func nextLine(waits: Bool) async -> Reading {
        if waits { await waitForCapacity() } else if !hasCapacity { return .later }
        while connection.phase == .busy {
            steps += 1
            // A caller that writes and reads as fast as this loop must not have it to itself.
            if steps.isMultiple(of: 16) { await connection.loop.nextIteration() }
            if let line = splitter.next() { return .line(line) }
            if isRead { return splitter.finish().map { .line($0) } ?? .end }
            guard let piece = await nextPiece(waits) else {
                if isRead { continue }
                return waits ? .end : .later
            }
            splitter.feed(piece)
        }
        return .end
    }

    private var hasCapacity: Bool { !isWriting && order.mayBegin && connection.unsent.isEmpty }

    /// Waits until an outcome more can be held, and the caller has taken those that went out.
    private func waitForCapacity() async {
        while connection.phase == .busy {
            if isWriting || !order.mayBegin {
                await withCheckedContinuation { capacityFreed = $0 }
            } else if !connection.unsent.isEmpty {
                await write()
            } else {
                return
            }
        }
    }

    /// The next piece of the body; nil when there is none, which `isRead` or `ending` then explains, or none yet.
    private func nextPiece(_ waits: Bool) async -> [UInt8]? {
        while connection.phase == .busy, ending == nil || !hasLooked {
            if let breakBehind {
                ending = breakBehind
                return nil
            }
            // A stream that ends early reads once more what is there: the rest of the body may have come.
            hasLooked = ending != nil
            do throws(Failure) {
                switch try connection.uploadStep() {
                case .piece(let piece):
                    isRead = connection.request?.decoder.isComplete ?? false
                    return piece
                case .end:
                    isRead = true
                    return nil
                case .blocked:
                    guard waits else { return nil }
                    if ending == nil { await arrival() }
                }
            } catch {
                breakBehind = connection.request?.refusal ?? Problem(.badRequest, error.detail)
                if let piece = connection.request?.takeCollected() { return piece }
            }
        }
        return nil
    }

    private func arrival() async {
        isWaiting = true
        if order.isIdle { startIdleTime() }
        _ = await withCheckedContinuation { connection.arrived = $0 }
        isWaiting = false
        if !isDraining { connection.loop.cancel(timer) }
    }
}

// MARK: Ends that the caller did not ask for

extension LineStream {
    func startIdleTime() {
        guard !isDraining else { return }
        schedule(connection.server.limits.streamIdle)
    }

    /// The relay stops: what is on its way is still told so, for a moment.
    func drain() {
        isDraining = true
        schedule(.seconds(1))
    }

    private func schedule(_ wait: Duration) {
        connection.loop.schedule(timer, at: connection.loop.now &+ wait.saturatedNanoseconds)
    }

    func timeIsUp() {
        // The lines of a whole body each have their own outcome.
        guard !isRead else { return }
        if isDraining {
            ending = Problem(.draining, "the relay is stopping; this line and those behind it were not read")
            ending?.retryAfter = .seconds(1)
        } else if connection.unsent.isEmpty {
            ending = Problem(.requestTimeout, "nothing came, and no job was under way")
        } else {
            // The caller is busy reading; a stall there has its own limit.
            return startIdleTime()
        }
        connection.arrived.take()?.resume(returning: false)
    }
}
