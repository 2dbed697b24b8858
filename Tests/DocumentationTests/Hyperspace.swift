import FoundationEssentials
import RelayFoundation
import RelayKit

struct Book: Decodable, Equatable {
    let id: Int
    let title: String
}

extension RoutePolicy {
    /// Where the books are, and what happens after an attempt that failed.
    static func books() throws(Refusal) -> RoutePolicy {
        var policy = RoutePolicy(upstreams: [try Upstream("https://books.example/api/v1/")])
        policy.maxAttempts = 4
        policy.authentication = Authentication(form: .bearer, credential: "login")
        policy.recovery = [
            .reauthorize(on: [401]),
            .backoff(on: [503, .connection], maxAttempts: 3),
        ]
        return policy
    }
}

extension CredentialDefinition {
    /// A token that a program fetches itself.
    static func login(_ fetchToken: @escaping @Sendable () async throws -> String) -> CredentialDefinition {
        CredentialDefinition("login") { AccessToken(try await fetchToken()) }
    }
}

extension PlainRequest<Book> {
    /// One book, found under `data` in the answer.
    static func book(_ id: Int) -> Request {
        Request(.get, "books/\(id)", headers: ["Accept": "application/json"], container: "/data")
    }
}

/// Asks for a book that has moved by its new number.
struct FollowTheMove: RecoveryStrategy {
    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition {
        guard failure.status == 410, context.attemptsLeft > 0, let field = FieldName("Book-Moved-To"),
            let number = failure.response?.fields[field].flatMap({ Int($0) })
        else { return .passOn }
        var next = request
        next.target = "books/\(number)"
        return .retry(next, after: .zero)
    }
}

/// Asks the archive for what has gone, whatever is wanted of it.
struct AskTheArchive: RequestStrategy {
    func recover<Response, ServerError>(
        from failed: FailedRequest<Response, ServerError>,
        context: RecoveryContext
    ) async -> RequestDisposition<Response, ServerError> {
        guard failed.failure.status == 410, context.attemptsLeft > 0 else { return .passOn }
        return .retry(failed.request.addingHeaders(["Accept-Datetime": "Thu, 01 Jan 2026 00:00:00 GMT"]))
    }
}

extension PlainRequest<String> {
    /// Where a book can be bought: the upstream says so by a redirect.
    static func shop(of id: Int) -> Request {
        var request = Request(HTTPRequest(method: .get, target: "books/\(id)/shop")) { success in
            success.response.fields[.location] ?? ""
        }
        request.quickRecovery = { failure in failure.status == 302 ? failure.response : nil }
        return request
    }
}

/// The content that the upstream sends with 200 when it could not do what was asked.
struct Complaint: Error, Decodable, Equatable {
    let code: String
}

extension Request {
    /// The same request, which takes a complaint for what it is.
    func rejectingComplaints() -> Request {
        var request = self
        request.successValidator = { success in
            if let complaint = try? JSONDecoder().decodeContent(Complaint.self, from: success.response.bytes)
            {
                throw complaint
            }
        }
        return request
    }
}

/// The errors the rest of the program knows.
enum BookError: FailureInitializable, Equatable {
    case complained(String)
    case gone
    case unavailable

    init(_ failure: Failure) {
        if let complaint = failure.underlying as? Complaint {
            self = .complained(complaint.code)
        } else {
            self = failure.status == 404 || failure.status == 410 ? .gone : .unavailable
        }
    }
}

extension Request<Book, BookError> {
    /// One book, whose errors are those that the rest of the program knows.
    static func known(_ id: Int) -> Request {
        PlainRequest.book(id).rejectingComplaints().throwing(BookError.self)
    }
}

/// The title of a book, or why there is none.
func title(of id: Int, from books: RelayService) async -> String {
    do throws(BookError) {
        return try await books.execute(.known(id)).title
    } catch {
        switch error {
        case .complained(let code): return "refused: \(code)"
        case .gone: return "gone"
        case .unavailable: return "later"
        }
    }
}

/// The same for who needs no reason.
func shownTitle(of id: Int, from books: RelayService) async -> String {
    await books.value(of: Request.known(id).map(\.title)) { error in error == .gone ? "out of print" : "" }
}
