// Declarations in the shape of hummingbird 2.15 and swift-service-lifecycle 2.8: as much as the article touches.
import Synchronization

protocol Service: Sendable {
    func run() async throws
}

/// Returns when the program is asked to end; here when the test says so.
func gracefulShutdown() async throws { await ShutdownSignal.shared.wait() }

enum Hummingbird {
    struct Status: Sendable, Equatable {
        let code: Int

        static let accepted = Status(code: 202)
    }

    struct Request: Sendable {}

    struct Parameters: Sendable {
        let values: [String: String]

        struct Missing: Error {}

        func require(_ name: String) throws -> String {
            guard let value = values[name] else { throw Missing() }
            return value
        }
    }

    struct Context: Sendable {
        let parameters: Parameters
    }

    final class Router {
        typealias Handler = @Sendable (Request, Context) async throws -> Status

        private(set) var handlers: [String: Handler] = [:]

        func post(_ path: String, use handler: @escaping Handler) { handlers[path] = handler }
    }

    struct Application {
        let router: Router
        private(set) var services: [any Service] = []

        init(router: Router) { self.router = router }

        mutating func addServices(_ services: any Service...) { self.services += services }
    }
}

/// A signal that a test gives once.
final class ShutdownSignal: Sendable {
    static let shared = ShutdownSignal()
    private let (given, give) = AsyncStream<Void>.makeStream()

    func send() { give.finish() }

    func wait() async { for await _ in given {} }
}
