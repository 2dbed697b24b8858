import RelayCore
import RelayEngine
import RelayPosix
import RelayRoute

// An answer that is not over with its head holds its permit until it is: the route knows of it, and may need it back.
extension Connection {
    /// The head of an answer is out, and the rest is to follow.
    func streamBegins(_ state: RouteState, to caller: FairQueue.Caller, isEndless: Bool) {
        let (bound, serial) = (LoopBound(self, loop), server.nextStream)
        server.nextStream += 1
        let (loop, time) = (loop, server.relay.ports.time)
        let stream = state.streams(to: caller, isEndless: isEndless, time) {
            loop.execute { bound.value.streamIsRecalled(serial) }
        }
        server.streams[ObjectIdentifier(self)] = (serial, stream)
    }

    /// The same of an answer that is soon over, as far as is known.
    func streamMayBegin(_ state: RouteState, to caller: FairQueue.Caller) {
        guard let request else { return }
        server.nextStream += 1
        request.streamSerial = server.nextStream
        server.youngStreams.add(self, request.streamSerial, state, caller)
    }

    /// The answer is over, or its connection.
    @inline(__always)
    func streamEnds() {
        if !server.streams.isEmpty { server.streams[ObjectIdentifier(self)] = nil }
    }

    /// Another user's request waits, and this answer is one more than its user may have: it is cut short.
    private func streamIsRecalled(_ serial: Int) {
        guard server.streams[ObjectIdentifier(self)]?.serial == serial else { return }
        share?.refused(.streams)
        abort()
    }
}
