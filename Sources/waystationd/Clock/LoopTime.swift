import RelayBase
import RelayPosix
import RelayRoute

/// The clocks as tasks of one loop see them.
final class LoopTime: PromptTime {
    private let loop: EventLoop

    init(loop: EventLoop) { self.loop = loop }

    /// On the loop the time its batch began, which is as exact as a wait can be and costs no call.
    func now() -> Instant { Instant(nanoseconds: loop.isCurrent ? loop.now : SystemClock.monotonic()) }

    func wallMilliseconds() -> Int64 { SystemClock.wall() / 1_000_000 }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        try await loop.sleep(until: deadline.nanoseconds)
    }
}

// Waits without a task.
extension LoopTime {
    func wake(_ receiver: any AnswerReceiver, at moment: Instant) -> any Sending {
        let timer = LoopTimer { receiver.received(.woken) }
        loop.schedule(timer, at: moment.nanoseconds)
        return Wait(timer, loop)
    }

    private struct Wait: Sending {
        private let timer: LoopBound<LoopTimer>
        private let loop: EventLoop

        init(_ timer: LoopTimer, _ loop: EventLoop) {
            self.timer = LoopBound(timer, loop)
            self.loop = loop
        }

        func cancel() {
            guard loop.isCurrent else { return loop.execute { [self] in cancel() } }
            let timer = timer.value
            guard timer.isScheduled else { return }
            loop.cancel(timer)
            timer.action()
        }
    }
}

/// Wall and monotonic time outside any loop.
final class SystemTime: ClockSource {
    func now() -> Instant { Instant(nanoseconds: SystemClock.monotonic()) }

    func wallMilliseconds() -> Int64 { SystemClock.wall() / 1_000_000 }
}
