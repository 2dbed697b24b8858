/// The wait of one sleeping task, itself the entry in the heap.
@safe final class Sleeper: LoopTimer {
    private var continuation: UnsafeContinuation<Bool, Never>?
    private var isOver = false

    /// Starts the wait; the continuation is resumed with whether the deadline came.
    func begin(_ continuation: UnsafeContinuation<Bool, Never>, _ deadline: Int64, _ loop: EventLoop) {
        // Cancelled before it slept.
        if isOver { return unsafe continuation.resume(returning: false) }
        unsafe self.continuation = continuation
        loop.schedule(self, at: deadline)
    }

    override func fire() {
        finish(slept: true)
    }

    func cancel(_ loop: EventLoop) {
        loop.cancel(self)
        finish(slept: false)
    }

    private func finish(slept: Bool) {
        isOver = true
        guard let continuation = unsafe continuation else { return }
        unsafe self.continuation = nil
        unsafe continuation.resume(returning: slept)
    }
}

extension EventLoop {
    /// Suspends a task of this loop until `deadline`: one heap entry and a continuation.
    ///
    /// - Parameter deadline: monotonic nanoseconds.
    /// - Throws: as soon as the task is cancelled, from whatever thread.
    package func sleep(until deadline: Int64) async throws(CancellationError) {
        let sleeper = LoopBound(Sleeper(), self)
        let slept = await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                unsafe sleeper.value.begin(continuation, deadline, self)
            }
        } onCancel: {
            if let sleeper = sleeper.valueOnLoop {
                sleeper.cancel(self)
            } else {
                execute { sleeper.value.cancel(self) }
            }
        }
        guard slept else { throw CancellationError() }
    }
}
