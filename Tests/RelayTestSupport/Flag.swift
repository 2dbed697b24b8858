import Synchronization

/// A switch that the test, or what it watches, turns on or off.
package final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    package init() {}

    package var isSet: Bool { value.load(ordering: .relaxed) }

    package func set(_ isSet: Bool = true) { value.store(isSet, ordering: .relaxed) }
}
