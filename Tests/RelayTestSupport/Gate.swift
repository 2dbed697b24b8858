import Synchronization

/// Holds all that pass until it is opened, cancelled or not.
package final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, held: [CheckedContinuation<Void, Never>])>((false, []))

    package init() {}

    package func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    package func open() {
        let held = state.withLock { state in
            defer { state = (true, []) }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
