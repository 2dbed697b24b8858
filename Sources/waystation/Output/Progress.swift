import Glibc
import RelayPosix
import Synchronization

/// A line on a terminal's standard error while something takes longer than a second; elsewhere nothing.
final class Progress: Sendable {
    private struct State {
        var text: String
        var isShown = false
        var isOver = false
    }

    private let state: Mutex<State>

    /// Begins to tell of `text`, unless it is quiet.
    init(_ text: String, isQuiet: Bool = false) {
        state = Mutex(State(text: text))
        guard !isQuiet, isatty(STDERR_FILENO) == 1 else { return }
        let began = SystemClock.monotonic()
        // Without a thread nothing is shown, which is no reason to fail.
        try? startDetachedThread("progress") { [self] in
            while true {
                _ = poll(nil, 0, 250)
                guard show(after: SystemClock.monotonic() - began) else { return }
            }
        }
    }

    /// Replaces the words for the work that goes on.
    func update(_ text: String) { state.withLock { $0.text = text } }

    /// Takes the line away; whatever is printed next stands on a clean line.
    func end() {
        state.withLock { state in
            if state.isShown { Output.error.write("\r\u{1B}[K") }
            state.isShown = false
            state.isOver = true
        }
    }

    private func show(after nanoseconds: Int64) -> Bool {
        state.withLock { state in
            if !state.isOver, nanoseconds >= 1_000_000_000 {
                Output.error.write("\r\u{1B}[K\(state.text) … \(nanoseconds / 1_000_000_000)s")
                state.isShown = true
            }
            return !state.isOver
        }
    }
}
