import Glibc
import RelayBase
import RelayPosix

extension Connection {
    /// Reads what has arrived; `isReadable` is false afterwards when nothing is left.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> WireRead {
        guard let tls else {
            switch unsafe Socket.receive(descriptor, into: buffer) {
            case .bytes(let count):
                // A read that left room has drained the socket; the next edge tells of more.
                if count < buffer.count, !peerFinished { isReadable = false }
                return .bytes(count)
            case .end: return .end
            case .wouldBlock:
                isReadable = false
                return .wouldBlock
            case .failed(let errno): return .failed(WireFault(errno))
            }
        }
        var total = 0
        while total < buffer.count {
            // A record is at most 16 KiB: several fill a buffer.
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[total...])
            let result = unsafe tls.read(into: rest)
            if case .bytes(let count) = result {
                total += count
                continue
            }
            if case .wouldBlock = result { isReadable = false }
            // An end or a fault shows again at the next read.
            return total > 0 ? .bytes(total) : result
        }
        return .bytes(total)
    }

    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> WireWritten {
        if let tls {
            return unsafe tls.write(first.isEmpty ? second : first)
        }
        let written =
            if unsafe second.isEmpty {
                unsafe Socket.send(descriptor, first)
            } else if unsafe first.isEmpty {
                unsafe Socket.send(descriptor, second)
            } else {
                unsafe Socket.send(descriptor, first, second)
            }
        switch written {
        case .bytes(let count): return .bytes(count)
        case .wouldBlock: return .wouldBlock
        case .failed(let errno): return .failed(WireFault(errno))
        }
    }
}
