import CLinux
import Glibc
import Synchronization

/// Opens once; threads block for it and tasks suspend for it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let descriptor = eventfd(0, Int32(EFD_CLOEXEC))

    deinit { _ = Glibc.close(descriptor) }

    func open() {
        var one: UInt64 = 1
        unsafe _ = Glibc.write(descriptor, &one, 8)
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Blocks the thread, for at most two minutes.
    func block() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        unsafe _ = poll(&entry, 1, 120_000)
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
