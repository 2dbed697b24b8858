package import RelayEngine
import Synchronization

/// The counts of what one loop has refused to send or to keep.
///
/// The lock is the loop's own but for the moment in which somebody reads.
package final class ProblemTally: Sendable {
    package struct Name: Hashable, Sendable {
        /// Nil of what is about no route of the configuration.
        package let route: String?
        package let code: Problem.Code
    }

    private let counts = Mutex<[Name: UInt64]>([:])

    package init() {}

    /// Counts one, of that route where the problem itself names none.
    func count(_ problem: Problem, of route: String? = nil) {
        counts.withLock { $0[Name(route: problem.route ?? route, code: problem.code), default: 0] += 1 }
    }

    /// Counts what `body` is refused with.
    func counting<Value>(
        of route: String? = nil,
        _ body: () async throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        do throws(Problem) { return try await body() } catch {
            count(error, of: route)
            throw error
        }
    }

    /// Of a job among several, where it was refused.
    func count<Value>(_ outcome: Result<Value, Problem>) {
        if case .failure(let problem) = outcome { count(problem) }
    }

    package var all: [Name: UInt64] { counts.withLock { $0 } }
}
