import Testing

/// A kind of store, of which a test opens one.
package struct StoreKind: Sendable, CustomTestStringConvertible {
    package let name: String
    package let capabilities: StoreCapabilities
    private let opener: @Sendable () async throws -> any StoreUnderTest

    package init(
        _ name: String,
        _ capabilities: StoreCapabilities,
        _ opener: @escaping @Sendable () async throws -> any StoreUnderTest
    ) {
        self.name = name
        self.capabilities = capabilities
        self.opener = opener
    }

    /// Opens an empty one.
    package func open() async throws -> any StoreUnderTest { try await opener() }

    /// Whether it has told of these routes, and of them alone where it tells of each once.
    package func hasTold(_ expected: [String], in told: some Sequence<String>) -> Bool {
        let told = Array(told)
        return capabilities.contains(.tellsOnce) ? told == expected : Set(expected).isSubset(of: told)
    }

    package var testDescription: String { name }
}

/// Abilities that some kinds of stores have and others lack.
package struct StoreCapabilities: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// It is there again with all it had after `reopen`, and what ran has been through a crash.
    package static let survives = StoreCapabilities(rawValue: 1)
    /// No time passes for it but what the test lets pass.
    package static let stillClock = StoreCapabilities(rawValue: 2)
    /// A step of the caller's wall clock, also between two processes, is one of its own.
    package static let wallSteps = StoreCapabilities(rawValue: 4)
    /// It takes bodies that are too large for memory.
    package static let spools = StoreCapabilities(rawValue: 8)
    /// A sweep tells for how long it has nothing to see to.
    package static let rests = StoreCapabilities(rawValue: 16)
    /// A sweep removes each job by itself and counts it; of others those that are gone are only not shown any more.
    package static let removesSingly = StoreCapabilities(rawValue: 32)
    /// A job is claimed with its acceptance whenever no other one of its route waits; elsewhere it may wait all the same.
    package static let birthsExactly = StoreCapabilities(rawValue: 64)

    /// Its counts and ages are exact; elsewhere they are to the minute.
    package static let countsExactly = StoreCapabilities(rawValue: 128)

    /// Users and urgencies have their turns to the job; elsewhere one may have its turn a claim later.
    package static let turnsExactly = StoreCapabilities(rawValue: 256)

    /// It tells once of a route that it has got work; elsewhere again, as long as the work waits.
    package static let tellsOnce = StoreCapabilities(rawValue: 512)

    package static let all: StoreCapabilities = [
        .survives, .stillClock, .wallSteps, .spools, .rests, .removesSingly, .birthsExactly, .countsExactly,
        .turnsExactly, .tellsOnce,
    ]
}
