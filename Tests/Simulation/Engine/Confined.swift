import Glibc

/// Carries a world through the places that ask for `Sendable`.
///
/// Everything of one world runs on the thread that pumps it. Whoever comes from another thread traps here, so
/// code that left the world's executor cannot go unnoticed.
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
