import CLinux
import Glibc
import Synchronization

/// One thread with epoll, a timer heap and a ring of jobs: the executor of every task that belongs to it.
///
/// A task started by `spawn` runs on the loop from its first line to its last, together with its input
/// and output, without a hop. All that the loop owns is touched on its thread alone;
/// other threads use `execute`. Work handed over after `stop` is never run.
package final class EventLoop: TaskExecutor {
    /// The work of a turn on its events is one operation.
    package let activity: Activity
    @usableFromInline let thread: UInt
    private let epoll: FileDescriptor
    private let wakeup: FileDescriptor
    let state: LoopBound<LoopState>
    private let inbox: Mutex<Inbox>
    private let iterations = Atomic<UInt64>(0)
    /// Nil once somebody has joined the thread.
    private let joinable: Mutex<pthread_t?>

    /// The jobs and the work that other threads hand over.
    private struct Inbox: ~Copyable {
        var jobs = JobRing()
        var work: [@Sendable () -> Void] = []
        /// Whether the loop has been told and has not looked yet.
        var isAnnounced = false
        /// Whether the loop has ended: what comes now is dropped, or it would keep the loop alive for ever.
        var isClosed = false
    }

    /// Runs on the thread that will be the loop's.
    private init(name: String) throws(PosixError) {
        activity = Activity(name)
        thread = currentThread()
        epoll = FileDescriptor(try PosixError.check("epoll_create1", epoll_create1(Int32(EPOLL_CLOEXEC))))
        wakeup = FileDescriptor(
            try PosixError.check("eventfd", eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)))
        )
        state = LoopBound(LoopState(), thread: thread)
        inbox = Mutex(Inbox())
        joinable = Mutex(nil)
        // Edge-triggered: each write to the eventfd wakes, and nobody has to read the count.
        try PosixError.check(
            "epoll_ctl",
            relay_epoll_control(
                epoll.raw,
                EPOLL_CTL_ADD,
                wakeup.raw,
                EPOLLIN.rawValue | EPOLLET.rawValue,
                UInt64.max
            )
        )
    }

    /// Starts a loop on its own thread, with all signals blocked there.
    package static func start(name: String) throws(PosixError) -> EventLoop {
        let started = Handover<Result<EventLoop, PosixError>>()
        let thread = try startThread(name) {
            do throws(PosixError) {
                let loop = try EventLoop(name: name)
                started.give(.success(loop))
                loop.run()
            } catch {
                started.give(.failure(error))
            }
        }
        let loop: EventLoop
        switch started.take() {
        case .success(let running): loop = running
        case .failure(let error):
            pthread_join(thread, nil)
            throw error
        }
        loop.joinable.withLock { $0 = thread }
        return loop
    }

    /// Ends the loop after the turn it is in and closes what it still watches.
    ///
    /// From another thread it returns when the loop's thread has ended; tasks still suspended stay so for
    /// ever.
    package func stop() {
        execute { [state] in state.value.isRunning = false }
        guard !isCurrent else { return }
        let thread = joinable.withLock { joinable in
            defer { joinable = nil }
            return joinable
        }
        if let thread { pthread_join(thread, nil) }
    }

    /// Whether the caller is on the loop's thread.
    @inlinable package var isCurrent: Bool { currentThread() == thread }

    /// Turns so far, readable anywhere.
    package var heartbeat: UInt64 { iterations.load(ordering: .relaxed) }

    /// Monotonic nanoseconds at the start of this turn's batch; only on the loop.
    package var now: Int64 { state.value.now }

    /// Monotonic nanoseconds at this moment; anywhere.
    package func currentTime() -> Int64 { SystemClock.monotonic() }
}

// MARK: Handing work to the loop

extension EventLoop {
    /// Makes a value on the loop and boxes it; another thread blocks until that is done, so only while
    /// starting.
    package func bind<Value>(_ make: @escaping @Sendable () -> Value) -> LoopBound<Value> {
        if isCurrent { return LoopBound(make(), self) }
        let made = Handover<LoopBound<Value>>()
        execute { made.give(LoopBound(make(), self)) }
        return made.take()
    }

    /// Runs `work` on the loop: from another thread as soon as it can, from the loop itself after this batch.
    package func execute(_ work: @escaping @Sendable () -> Void) {
        if let state = state.valueOnLoop {
            state.deferred.append(work)
        } else {
            handOver { inbox in inbox.work.append(work) }
        }
    }

    /// Runs `work` once after the events at hand; only on the loop.
    package func afterBatch(_ work: @escaping () -> Void) {
        state.value.deferred.append(work)
    }

    /// Returns once the loop has looked at its descriptors and run whatever else was ready; only on the loop.
    package func nextIteration() async {
        await withCheckedContinuation { continuation in afterBatch { continuation.resume() } }
    }

    /// Starts a task that stays on the loop.
    ///
    /// An unstructured `Task` inside it would leave the loop: use this instead.
    @discardableResult
    package func spawn(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await operation() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let state = state.valueOnLoop {
            state.jobs.push(job)
        } else {
            handOver { inbox in inbox.jobs.push(job) }
        }
    }

    private func handOver(_ add: (inout Inbox) -> Void) {
        let isFirst = inbox.withLock { inbox in
            guard !inbox.isClosed else { return false }
            add(&inbox)
            defer { inbox.isAnnounced = true }
            return !inbox.isAnnounced
        }
        guard isFirst else { return }
        var one: UInt64 = 1
        unsafe _ = write(wakeup.raw, &one, 8)
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}

// MARK: Turning

extension EventLoop {
    private func run() {
        let state = state.value
        let executor = unsafe asUnownedTaskExecutor()
        while true {
            var budget = LoopState.jobsPerIteration
            while budget > 0, let job = state.jobs.pop() {
                unsafe job.runSynchronously(on: executor)
                budget &-= 1
            }
            state.runDeferred()
            guard state.isRunning else { break }
            activity.end()
            let count = unsafe epoll_wait(
                epoll.raw,
                state.events,
                Int32(LoopState.eventCapacity),
                state.timeout()
            )
            state.now = SystemClock.monotonic()
            activity.begin(at: state.now)
            iterations.store(iterations.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            // Ends first: who takes up a connection in this turn finds none that is known to be over.
            for isEnd in [true, false] {
                for index in 0..<max(0, Int(count)) {
                    let event = unsafe state.events[index]
                    let events = unsafe Events(rawValue: event.events)
                    guard events.isDisjoint(with: [.peerFinished, .hangUp, .error]) != isEnd else { continue }
                    unsafe dispatch(state, event.data.u64, events)
                }
            }
            state.runTimers()
        }
        inbox.withLock { inbox in
            inbox.isClosed = true
            inbox.work = []
        }
        for watcher in state.watchers { watcher?.removeSelf() }
    }

    private func dispatch(_ state: LoopState, _ tag: UInt64, _ events: Events) {
        if tag == .max { return collectInbox(state) }
        let descriptor = Int(UInt32(truncatingIfNeeded: tag))
        state.watcher(descriptor, UInt32(truncatingIfNeeded: tag >> 32))?.ready(events)
    }

    private func collectInbox(_ state: LoopState) {
        let work = inbox.withLock { inbox in
            inbox.isAnnounced = false
            while let job = inbox.jobs.pop() { state.jobs.push(job) }
            let work = inbox.work
            inbox.work = []
            return work
        }
        for item in work { item() }
    }
}

// MARK: Descriptors

extension EventLoop {
    /// Registers `watcher` as the owner of `descriptor`, which is closed when that fails.
    package func add(
        _ watcher: Watcher,
        _ descriptor: consuming FileDescriptor,
        _ events: Events = .stream
    ) throws(PosixError) {
        let state = state.value
        precondition(watcher.descriptor < 0, "a watcher owns one descriptor at a time")
        state.generation = state.generation &+ 1
        // The tag of all ones belongs to the wake-up.
        if state.generation == .max { state.generation = 1 }
        let tag = UInt64(state.generation) << 32 | UInt64(UInt32(bitPattern: descriptor.raw))
        try PosixError.check(
            "epoll_ctl",
            relay_epoll_control(epoll.raw, EPOLL_CTL_ADD, descriptor.raw, events.rawValue, tag)
        )
        let raw = descriptor.release()
        while state.watchers.count <= Int(raw) {
            state.watchers.append(contentsOf: repeatElement(nil, count: state.watchers.count))
        }
        watcher.descriptor = raw
        watcher.generation = state.generation
        watcher.interest = events
        state.watchers[Int(raw)] = watcher
    }

    /// Changes what `watcher` hears about; costs a system call only when it is a change.
    package func watch(_ watcher: Watcher, for events: Events) {
        guard watcher.descriptor >= 0, watcher.interest != events else { return }
        watcher.interest = events
        let tag = UInt64(watcher.generation) << 32 | UInt64(UInt32(bitPattern: watcher.descriptor))
        let result = relay_epoll_control(
            epoll.raw,
            EPOLL_CTL_MOD,
            watcher.descriptor,
            events.rawValue,
            tag
        )
        precondition(result == 0, "epoll_ctl on a descriptor the loop owns cannot fail")
    }

    /// Takes `watcher` off the loop and closes its descriptor; nothing happens when it is off already.
    package func remove(_ watcher: Watcher) {
        let state = state.value
        let raw = watcher.descriptor
        guard raw >= 0 else { return }
        watcher.descriptor = -1
        state.watchers[Int(raw)] = nil
        let descriptor = FileDescriptor(raw)
        // The last close of an open file takes it out of epoll, without a second system call; but while another
        // descriptor holds the same one, epoll would report it for ever to a loop that can no longer name it.
        if watcher.isShared {
            let result = relay_epoll_control(epoll.raw, EPOLL_CTL_DEL, raw, 0, 0)
            precondition(result == 0, "epoll_ctl on a descriptor the loop owns cannot fail")
        }
        descriptor.close()
    }
}

extension Watcher {
    package final func removeSelf() { loop.remove(self) }
}

// MARK: Timers and buffers

extension EventLoop {
    /// Schedules `timer`, or moves it when it is scheduled; only on the loop.
    ///
    /// A deadline, in monotonic nanoseconds, that is past fires in this turn.
    package func schedule(_ timer: LoopTimer, at deadline: Int64) {
        state.value.timers.schedule(timer, at: deadline)
    }

    /// Takes `timer` out; nothing happens when it is not scheduled.
    package func cancel(_ timer: LoopTimer) {
        state.value.timers.cancel(timer)
    }

    /// 128 KiB to receive into; anybody on the loop may overwrite it once the caller returns or suspends.
    package var scratch: UnsafeMutableRawBufferPointer { unsafe state.value.input }

    /// Moves bytes between sockets, empty as often as anybody gets it; nil where there is none.
    package var pipe: SocketPipe? { state.value.pipe }
}
