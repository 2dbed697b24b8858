import Foundation
import RelayFoundation
import RelayKit
import RelaySockets

// The examples of Hyperspace's guides, as this library has them: the article "Examples counted" shows each.

extension PlainRequest<Book> {
    static func book(_ id: Int) -> Request { Request(.get, "books/\(id)") }
}

enum LibraryError: FailureInitializable {
    case notFound
    case unauthorized
    case other(Failure)

    init(_ failure: Failure) {
        switch failure.status {
        case 404: self = .notFound
        case 401: self = .unauthorized
        default: self = .other(failure)
        }
    }
}

struct Complaint: Decodable, Error {
    let code: String
}

enum DeskError: FailureInitializable {
    case complaint(Complaint)
    case network(Failure)
    case decoding(Failure)

    init(_ failure: Failure) {
        let content = failure.response?.bytes ?? []
        if let complaint = try? JSONDecoder().decodeContent(Complaint.self, from: content) {
            self = .complaint(complaint)
        } else {
            self = failure.kind == .decoding ? .decoding(failure) : .network(failure)
        }
    }
}

extension RoutePolicy {
    mutating func logIn() {
        authentication = Authentication(form: .bearer, credential: "login")
        recovery = [.reauthorize()]
    }
}

func login(_ fetchToken: @escaping @Sendable () async throws -> String) -> CredentialDefinition {
    CredentialDefinition("login") { AccessToken(try await fetchToken()) }
}

struct NewToken: RequestStrategy {
    let fetchToken: @Sendable () async throws -> String

    func recover<Response, ServerError>(
        from failed: FailedRequest<Response, ServerError>,
        context: RecoveryContext
    ) async -> RequestDisposition<Response, ServerError> {
        guard failed.failure.status == 401, context.attemptsLeft > 0 else { return .passOn }
        guard let token = try? await fetchToken() else { return .passOn }
        return .retry(failed.request.addingHeaders(["Authorization": "Bearer \(token)"]))
    }
}

extension PlainRequest<String> {
    static func shop(of id: Int) -> Request {
        var request = Request(HTTPRequest(method: .get, target: "books/\(id)/shop")) { success in
            success.response.fields[.location] ?? ""
        }
        request.quickRecovery = { failure in failure.status == 302 ? failure.response : nil }
        return request
    }
}

extension PlainRequest<Book> {
    static func checked(_ id: Int) -> Request {
        var request = Request.book(id)
        request.errorDocument = ErrorDocument(Complaint.self, at: "")
        return request
    }
}

func explained(_ id: Int) -> Request<Book, DeskError> {
    Request.book(id).throwing { failure in
        let content = failure.response?.bytes ?? []
        let complaint = try? JSONDecoder().decodeContent(Complaint.self, from: content)
        return complaint.map { .complaint($0) } ?? .network(failure)
    }
}

func signing(_ signature: @escaping @Sendable (HTTPRequest) async throws -> String) -> Prepare {
    Prepare(.attempt) { request, _ in
        var request = request
        request.fields.set("X-Signature", try await signature(request))
        return request
    }
}

func waiting(for url: String) throws -> RelayService {
    try RelayService(RoutePolicy(url, recovery: [.backoff(on: [503])]))
}

func told(by service: RelayService, _ show: (String) -> Void) async {
    do throws(Failure) {
        show(try await service.execute(.book(7)).title)
    } catch {
        show("\(error.kind)")
    }
}
