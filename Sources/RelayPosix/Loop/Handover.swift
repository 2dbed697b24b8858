import CLinux
import Glibc
import Synchronization

/// Passes one value from a thread that makes it to a thread that blocks for it.
package final class Handover<Value: Sendable>: Sendable {
    private let slot = Mutex<Value?>(nil)
    private let ready: Semaphore

    package init() {
        ready = Semaphore()
    }

    package func give(_ value: Value) {
        slot.withLock { $0 = value }
        ready.signal()
    }

    package func take() -> Value {
        while true {
            if let value = slot.withLock({ $0 }) { return value }
            ready.wait()
        }
    }
}

/// A counting semaphore between threads, starting at zero.
@safe package final class Semaphore: Sendable {
    private nonisolated(unsafe) let raw: UnsafeMutablePointer<sem_t>

    package init() {
        unsafe raw = .allocate(capacity: 1)
        unsafe raw.initialize(to: sem_t())
        unsafe sem_init(raw, 0, 0)
    }

    deinit {
        unsafe sem_destroy(raw)
        unsafe raw.deallocate()
    }

    package func signal() {
        unsafe _ = sem_post(raw)
    }

    /// Blocks the thread until a signal is there to take.
    package func wait() {
        while unsafe sem_wait(raw) != 0, errno == EINTR {}
    }
}
