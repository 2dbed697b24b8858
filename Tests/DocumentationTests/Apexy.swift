import RelayFoundation
import RelayKit

// The client the article about Apexy-style clients starts from.

/// One thing a server can be asked: how to ask, how to check the answer, how to read it.
protocol Endpoint {
    associatedtype Content: Sendable
    func makeRequest() throws -> (path: String, body: [UInt8]?)
    func validate(status: Int, body: [UInt8]) throws
    func content(from body: [UInt8]) throws -> Content
}

// The same with a request for each thing.

/// Something that can be asked for.
protocol Asking {
    associatedtype Content: Sendable
    var request: Request<Content, ShopFailure> { get }
}

struct Price: Decodable, Equatable {
    let cents: Int
}

struct PriceOf: Asking {
    let article: Int

    var request: Request<Price, ShopFailure> {
        Request(.get, "prices", query: ["article": "\(article)"], container: "/data").recognisingErrors()
    }
}

struct Order: Asking {
    let article: Int

    var request: Request<Void, ShopFailure> {
        Request(.post, "orders", content: .form(["article": "\(article)"])).recognisingErrors()
    }
}

/// The server's own description of what went wrong: `{"error": {"code": …, "title": …}}`.
struct ShopError: Error, Decodable, Equatable {
    let code: String
    let title: String
}

extension Request {
    /// The same request, which looks for the server's error on any status before anything else.
    func recognisingErrors() -> Request {
        var request = self
        request.errorDocument = ErrorDocument(ShopError.self, at: "/error")
        return request
    }
}

/// Logs the user out when the server no longer knows the token.
final class LogOutWatcher: AttemptObserver {
    private let logOut: @Sendable () -> Void

    init(logOut: @escaping @Sendable () -> Void) { self.logOut = logOut }

    func finished<Content, ServerError>(
        _ request: Request<Content, ServerError>,
        with outcome: JobOutcome<Content, ServerError>
    ) {
        if case .server(let error)? = outcome.error as? ShopFailure, error.code == "token_invalid" {
            logOut()
        }
    }
}

/// The four families of errors, told apart once.
enum ShopFailure: FailureInitializable, Equatable {
    case server(ShopError)
    case status(Status)
    case content
    case network(FailureKind)

    init(_ failure: Failure) {
        if let error = failure.underlying as? ShopError {
            self = .server(error)
        } else if failure.kind == .decoding {
            self = .content
        } else if let status = failure.status {
            self = .status(status)
        } else {
            self = .network(failure.kind)
        }
    }
}

extension RoutePolicy {
    /// A shop whose last good prices are better than none.
    static func shop() throws(Refusal) -> RoutePolicy {
        var policy = RoutePolicy(upstreams: [try Upstream("https://shop.example/api/")])
        policy.response.keepsLastGood = LastGoodRule(maxAge: .seconds(3600))
        policy.recovery = [
            .backoff(on: [503, .connection], maxAttempts: 2),
            .stale(on: [.exhausted]),
        ]
        return policy
    }
}

/// A price on the screen, loaded again whenever somebody asks for it.
struct PriceTag {
    private let loader: Loader<Price, ShopFailure>

    init(article: Int, from service: RelayService) {
        loader = Loader(PriceOf(article: article).request, from: service)
    }

    /// Does nothing while a request is under way.
    func reload() { loader.startLoading() }

    /// One line for every change, until `seen` has had enough.
    func show(_ seen: (String) -> Bool) async {
        for await state in loader.states() {
            let price = state.value.map { "\($0.cents) cents" } ?? "no price"
            let line =
                switch state {
                case .initial, .success: price
                case .loading: price + ", asking"
                case .failure: price + ", out of reach"
                }
            if seen(line) { return }
        }
    }
}

/// The content that a caller that asks once can show.
enum Shown<Content: Sendable>: Sendable {
    case fresh(Content)
    case old(Content)
    case nothing(ShopFailure)
}

extension RelayService {
    /// Asks, and says how far the answer can be trusted.
    func show<Question: Asking>(_ question: Question) async -> Shown<Question.Content> {
        let outcome = await outcome(of: question.request)
        switch outcome.result {
        case .success(let content): return outcome.source == .stale ? .old(content) : .fresh(content)
        case .failure(let error): return .nothing(error)
        }
    }
}
