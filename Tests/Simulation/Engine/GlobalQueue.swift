import Glibc

/// Brings what the core starts on no executor of its choice to the world whose thread starts it.
///
/// Code of a program runs in tasks that inherit nothing; the runtime's hook for them keeps a world on its thread.
enum GlobalQueue {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// Once, before the first world.
    static func install() {
        guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
            fatalError("the runtime has no hook for tasks of no executor")
        }
        _ = key
        unsafe symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
            if let queue = unsafe pthread_getspecific(GlobalQueue.key) {
                unsafe Unmanaged<RunQueue>.fromOpaque(queue).takeUnretainedValue().enqueue(job)
            } else {
                original(job)
            }
        }
    }

    /// From now on this thread's tasks of no executor run on `queue`, which is kept alive by the caller.
    static func enter(_ queue: RunQueue) {
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(queue).toOpaque())
    }

    static func leave() { pthread_setspecific(key, nil) }
}
