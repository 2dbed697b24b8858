import CLinux
import Glibc

/// The result of reading from a socket.
package enum Received: Sendable {
    case bytes(Int)
    /// The peer has finished.
    case end
    case wouldBlock
    case failed(Errno)
}

/// The result of writing to a socket.
package enum Written: Sendable {
    /// How many bytes the kernel took; may be fewer than offered.
    case bytes(Int)
    case wouldBlock
    case failed(Errno)
}

/// The result of accepting a connection.
package enum Accepted: ~Copyable {
    case connection(FileDescriptor)
    case wouldBlock
    case failed(Errno)
}

/// The result of beginning to connect.
package enum Connecting: ~Copyable {
    case connected(FileDescriptor)
    /// Writability tells when it is over, and `Socket.pendingError` how it ended.
    case underway(FileDescriptor)
    case failed(Errno)
}

/// The system calls of stream sockets: all non-blocking, repeated when a signal interrupts, never raising
/// SIGPIPE.
package enum Socket {
    /// Reads what is there; `peek` leaves it to be read again.
    package static func receive(
        _ descriptor: Int32,
        into buffer: UnsafeMutableRawBufferPointer,
        peek: Bool = false
    ) -> Received {
        while true {
            let count = unsafe recv(
                descriptor,
                buffer.baseAddress,
                buffer.count,
                Int32(peek ? MSG_PEEK : 0) | Int32(MSG_DONTWAIT)
            )
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: return .failed(.current)
            }
        }
    }

    /// Reads what is there behind what `bytes` hold already, `most` bytes of it.
    package static func receive(_ descriptor: Int32, behind bytes: inout [UInt8], most: Int) -> Received {
        var received = Received.wouldBlock
        bytes.append(addingCapacity: most) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, count in
                unsafe received = receive(descriptor, into: UnsafeMutableRawBufferPointer(buffer))
                if case .bytes(let arrived) = received { count += arrived }
            }
        }
        return received
    }

    package static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Written {
        while true {
            let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .wouldBlock : .failed(.current)
        }
    }

    package static func send(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Written {
        unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0) }
    }

    /// Sends two buffers, one after the other, with one system call.
    package static func send(
        _ descriptor: Int32,
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) -> Written {
        var parts = unsafe (
            iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
        )
        return unsafe withUnsafeMutableBytes(of: &parts) { parts in
            var message = unsafe msghdr()
            unsafe message.msg_iov = parts.baseAddress?.assumingMemoryBound(to: iovec.self)
            unsafe message.msg_iovlen = 2
            while true {
                let count = unsafe sendmsg(descriptor, &message, sendFlags)
                if count >= 0 { return .bytes(count) }
                if errno == EINTR { continue }
                return errno == EAGAIN ? .wouldBlock : .failed(.current)
            }
        }
    }

    /// Takes one waiting connection; call again until it would block, but not for ever.
    package static func accept(_ listener: Int32) -> Accepted {
        while true {
            let descriptor = accept4(listener, nil, nil, streamFlags)
            if descriptor >= 0 { return .connection(FileDescriptor(descriptor)) }
            switch errno {
            // A connection that died while it waited is no fault of the listener (accept(2)).
            case EINTR, ECONNABORTED, EPROTO: continue
            case EAGAIN: return .wouldBlock
            default: return .failed(.current)
            }
        }
    }

    /// Begins to connect without blocking; leaves the reserve of descriptors alone.
    package static func connect(to address: SocketAddress) -> Connecting {
        let raw = socket(address.family, Int32(SOCK_STREAM.rawValue) | streamFlags, 0)
        guard raw >= 0 else { return .failed(.current) }
        let descriptor = FileDescriptor(raw)
        guard !DescriptorReserve.ofProcess.contains(raw) else { return .failed(Errno(rawValue: EMFILE)) }
        if address.family != AF_UNIX { setNoDelay(raw) }
        let result = unsafe address.withSockaddr { unsafe Glibc.connect(raw, $0, $1) }
        guard let result else { return .failed(Errno(rawValue: ENAMETOOLONG)) }
        if result == 0 { return .connected(descriptor) }
        // After EINTR the connection goes on in the background (connect(2)).
        if errno == EINPROGRESS || errno == EINTR { return .underway(descriptor) }
        return .failed(.current)
    }

    /// The error a socket holds, which reading takes away; nil when there is none.
    package static func pendingError(_ descriptor: Int32) -> Errno? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else {
            return .current
        }
        return code == 0 ? nil : Errno(rawValue: code)
    }

    /// Sends small segments at once (TCP_NODELAY); without effect on other sockets.
    package static func setNoDelay(_ descriptor: Int32) {
        var on: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    }

    /// Ends the sending direction.
    package static func finishSending(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The address the socket itself is bound to; nil unless it is an Internet socket.
    package static func localAddress(_ descriptor: Int32) -> SocketAddress? {
        unsafe address { unsafe getsockname(descriptor, $0, $1) }
    }

    /// The address the socket is connected to; nil unless it is an Internet socket.
    package static func remoteAddress(_ descriptor: Int32) -> SocketAddress? {
        unsafe address { unsafe getpeername(descriptor, $0, $1) }
    }

    private static func address(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe call(address, &length) == 0 else { return nil }
                return unsafe SocketAddress(address)
            }
        }
    }

    private static let sendFlags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    static let streamFlags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
}
