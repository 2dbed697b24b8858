// Declarations in the shape of hummingbird 2 and swift-service-lifecycle 2: as much as the article touches.
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

    protocol ResponseGenerator: SendableMetatype {
        func response() -> Response
    }

    struct Response: ResponseGenerator, Sendable {
        let status: Status

        func response() -> Response { self }
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

    protocol RequestContext: Sendable {
        var parameters: Parameters { get }

        init(parameters: Parameters)
    }

    struct BasicRequestContext: RequestContext {
        let parameters: Parameters
    }

    final class Router<Context: RequestContext> {
        private(set) var handlers: [String: @Sendable (Request, Context) async throws -> Response] = [:]

        init(context: Context.Type = BasicRequestContext.self) {}

        @discardableResult
        func post<Output: ResponseGenerator>(
            _ path: String = "",
            use handler: @Sendable @escaping (Request, Context) async throws -> Output
        ) -> Self {
            handlers[path] = { try await handler($0, $1).response() }
            return self
        }
    }

    protocol ApplicationProtocol {
        var services: [any Service] { get }

        /// The answer of the handler at that path, for a test.
        func answer(at path: String, _ parameters: Parameters) async throws -> Response?
    }

    struct Application<Context: RequestContext>: ApplicationProtocol {
        private let router: Router<Context>
        private(set) var services: [any Service] = []

        init(router: Router<Context>) { self.router = router }

        mutating func addServices(_ services: any Service...) { self.services += services }

        func answer(at path: String, _ parameters: Parameters) async throws -> Response? {
            try await router.handlers[path]?(Request(), Context(parameters: parameters))
        }
    }
}

/// A signal that a test gives once.
final class ShutdownSignal: Sendable {
    static let shared = ShutdownSignal()
    private let (given, give) = AsyncStream<Void>.makeStream()

    func send() { give.finish() }

    func wait() async { for await _ in given {} }
}
