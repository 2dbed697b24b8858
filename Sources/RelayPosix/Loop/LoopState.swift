import CLinux
import Glibc

/// Everything a loop touches only on its own thread.
@safe final class LoopState {
    static let eventCapacity = 512
    static let inputCapacity = 131_072
    /// Jobs run between two looks at the descriptors.
    static let jobsPerIteration = 4_096

    var jobs = JobRing()
    var timers = TimerHeap()
    /// By descriptor; the owner of each watcher.
    var watchers: [Watcher?] = Array(repeating: nil, count: 64)
    var generation: UInt32 = 0
    var deferred: [() -> Void] = []
    var now = SystemClock.monotonic()
    var isRunning = true
    let events: UnsafeMutablePointer<epoll_event>
    let input: UnsafeMutableRawBufferPointer

    private var madePipe: SocketPipe?
    private var isPipeTried = false

    init() {
        unsafe events = .allocate(capacity: Self.eventCapacity)
        unsafe input = .allocate(byteCount: Self.inputCapacity, alignment: 64)
    }

    deinit {
        unsafe events.deallocate()
        unsafe input.deallocate()
    }

    /// Made when it is first wanted; where no descriptor is to spare then, the loop does without.
    var pipe: SocketPipe? {
        if !isPipeTried {
            isPipeTried = true
            madePipe = SocketPipe()
        }
        return madePipe.flatMap { $0.isRefused ? nil : $0 }
    }

    /// Milliseconds until the next timer, rounded up; -1 when there is none.
    func timeout() -> Int32 {
        if jobs.count > 0 || !deferred.isEmpty { return 0 }
        guard let earliest = timers.earliest else { return -1 }
        let rest = earliest &- SystemClock.monotonic()
        guard rest > 0 else { return 0 }
        return Int32(min(rest / 1_000_000 + 1, 60_000))
    }

    func runDeferred() {
        guard !deferred.isEmpty else { return }
        let batch = deferred
        deferred = []
        for work in batch { work() }
    }

    func runTimers() {
        while let timer = timers.popDue(now) { timer.fire() }
    }

    func watcher(_ descriptor: Int, _ generation: UInt32) -> Watcher? {
        guard descriptor < watchers.count, let watcher = watchers[descriptor],
            watcher.generation == generation
        else { return nil }
        return watcher
    }
}
