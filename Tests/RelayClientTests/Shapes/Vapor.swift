// Declarations in the shape of vapor 4.115: as much as the article touches.
protocol LifecycleHandler: Sendable {
    func shutdownAsync(_ application: Vapor.Application) async
}

enum Vapor {
    enum HTTPStatus: Sendable {
        case accepted
    }

    struct Parameters: Sendable {
        let values: [String: String]

        struct Missing: Error {}

        func require(_ name: String) throws -> String {
            guard let value = values[name] else { throw Missing() }
            return value
        }
    }

    struct Request: Sendable {
        let parameters: Parameters
    }

    final class Application {
        final class Lifecycle {
            private(set) var handlers: [any LifecycleHandler] = []

            func use(_ handler: any LifecycleHandler) { handlers.append(handler) }
        }

        typealias Handler = @Sendable (Request) async throws -> HTTPStatus

        let lifecycle = Lifecycle()
        private(set) var handlers: [String: Handler] = [:]

        func post(_ path: String..., use handler: @escaping Handler) {
            handlers[path.joined(separator: "/")] = handler
        }
    }
}
