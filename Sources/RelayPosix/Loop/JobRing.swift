/// A growing ring of jobs; pushing and popping counts no references.
@safe package struct JobRing: ~Copyable {
    private var slots: UnsafeMutablePointer<UnownedJob>
    /// A power of two.
    private var capacity: Int
    private var head = 0
    package private(set) var count = 0

    package init(capacity: Int = 256) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "a ring's capacity is a power of two")
        self.capacity = capacity
        unsafe slots = .allocate(capacity: capacity)
    }

    deinit {
        unsafe slots.deallocate()
    }

    package mutating func push(_ job: UnownedJob) {
        if count == capacity { grow() }
        unsafe (slots + ((head &+ count) & (capacity &- 1))).initialize(to: job)
        count &+= 1
    }

    package mutating func pop() -> UnownedJob? {
        guard count > 0 else { return nil }
        let job = unsafe slots[head]
        head = (head &+ 1) & (capacity &- 1)
        count &-= 1
        return job
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<UnownedJob>.allocate(capacity: capacity * 2)
        for index in 0..<count {
            unsafe (larger + index).initialize(to: slots[(head + index) & (capacity - 1)])
        }
        unsafe slots.deallocate()
        unsafe slots = larger
        capacity *= 2
        head = 0
    }
}
