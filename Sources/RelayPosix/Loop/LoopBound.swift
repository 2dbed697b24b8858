/// Carries a value that is confined to one event loop through places that ask for `Sendable`.
///
/// The value can be boxed and unboxed only on the loop's own thread: both trap elsewhere, so a data race
/// becomes a crash with a message. The box is the one place where the package asserts what the compiler
/// cannot check. Letting go of the last reference is allowed anywhere.
package struct LoopBound<Value>: @unchecked Sendable {
    @usableFromInline let stored: Value
    @usableFromInline let thread: UInt

    @inlinable
    package init(_ value: Value, _ loop: EventLoop) {
        self.init(value, thread: loop.thread)
    }

    @inlinable
    init(_ value: Value, thread: UInt) {
        precondition(currentThread() == thread, "a loop-bound value was boxed off its loop")
        stored = value
        self.thread = thread
    }

    @inlinable package var value: Value {
        precondition(currentThread() == thread, "a loop-bound value was used off its loop")
        return stored
    }

    /// A part of the value that never changes, for any thread.
    @inlinable
    package func constant<Part: Sendable>(_ part: (Value) -> Part) -> Part { part(stored) }

    /// The value on its loop; nil on every other thread.
    @inlinable package var valueOnLoop: Value? {
        currentThread() == thread ? stored : nil
    }
}
