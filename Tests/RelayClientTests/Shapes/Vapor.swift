// Declarations in the shape of vapor 4: as much as the article touches.
protocol LifecycleHandler: Sendable {
    func shutdownAsync(_ application: Vapor.Application) async
}

enum Vapor {
    protocol AsyncResponseEncodable: SendableMetatype {}

    enum HTTPStatus: AsyncResponseEncodable, Sendable {
        case accepted
    }

    struct PathComponent: ExpressibleByStringLiteral {
        let text: String

        init(stringLiteral text: String) { self.text = text }
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

        typealias Handler = @Sendable (Request) async throws -> any AsyncResponseEncodable

        let lifecycle = Lifecycle()
        private(set) var handlers: [String: Handler] = [:]

        @discardableResult
        func post<Response: AsyncResponseEncodable>(
            _ path: PathComponent...,
            use closure: @Sendable @escaping (Request) async throws -> Response
        ) -> Self {
            handlers[path.map(\.text).joined(separator: "/")] = { try await closure($0) }
            return self
        }
    }
}
