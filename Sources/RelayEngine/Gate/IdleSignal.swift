import Synchronization

/// Whether whoever looks after everything rests, and how requests end that: the first one wakes it, which costs the
/// others a load.
package final class IdleSignal: Sendable {
    private let isOn = Atomic<Bool>(false)
    private let wake = Mutex<@Sendable () -> Void>({})

    package init() {}

    /// Whether nothing has begun since `begin`.
    package var lasts: Bool { isOn.load(ordering: .relaxed) }

    /// From now on the first that begins is told to `wake`, on the thread where it does.
    package func begin(_ wake: @escaping @Sendable () -> Void) {
        self.wake.withLock { $0 = wake }
        isOn.store(true, ordering: .sequentiallyConsistent)
    }

    /// Nobody has to be woken.
    package func stop() { isOn.store(false, ordering: .relaxed) }

    /// Something begins.
    @inline(__always)
    package func end() {
        if isOn.load(ordering: .relaxed) { wakeUp() }
    }

    @inline(never)
    private func wakeUp() {
        // The first of several that see it.
        guard isOn.exchange(false, ordering: .relaxed) else { return }
        wake.withLock { $0 }()
    }
}
