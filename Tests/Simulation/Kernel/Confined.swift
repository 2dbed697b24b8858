import Glibc

/// Carries a world through the places that ask for `Sendable`.
///
/// Everything of one world runs on the thread that pumps it. Code that comes from another thread traps here, so
/// it cannot leave the world's executor unnoticed.
struct Confined<Value: AnyObject>: @unchecked Sendable {
    private let stored: Value
    private let thread: pthread_t

    init(_ value: Value) {
        stored = value
        thread = pthread_self()
    }

    var value: Value {
        precondition(pthread_equal(thread, pthread_self()) != 0, "code of a world ran outside its executor")
        return stored
    }
}
