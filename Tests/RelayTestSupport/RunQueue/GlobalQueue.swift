import Glibc

/// Brings what is started on no executor of its choice to the run queue of the thread that starts it.
///
/// Tasks of no parent inherit no executor; the runtime's hook for them keeps them on their queue's thread.
package enum GlobalQueue {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    /// Made with the first queue, and the hook with it.
    private static let key: pthread_key_t = {
        guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
            fatalError("the runtime has no hook for tasks of no executor")
        }
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        unsafe symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
            if let queue = GlobalQueue.current { queue.enqueue(job) } else { original(job) }
        }
        return key
    }()

    /// The queue of this thread.
    static var current: RunQueue? {
        guard let queue = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<RunQueue>.fromOpaque(queue).takeUnretainedValue()
    }

    /// From now on this thread's tasks of no executor run on `queue`, which is kept alive by the caller.
    package static func enter(_ queue: RunQueue) {
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(queue).toOpaque())
    }

    package static func leave() { pthread_setspecific(key, nil) }
}
