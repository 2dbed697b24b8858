import RelayFoundation
import RelayKit
import RelaySockets

struct Book: Decodable, Equatable {
    var id: Int
    var title: String
}

/// The server's counts.
struct Seen: Decodable {
    var tokens: Int
    var refused: Int
    var hungUp: Int?

    enum CodingKeys: String, CodingKey {
        case tokens, refused
        case hungUp = "hung_up"
    }
}

/// The program's two services on one server: one to ask for tokens and counts, one that needs the tokens.
struct Library {
    let open: RelayService
    let books: RelayService

    init(port: String) throws {
        struct Grant: Decodable { var token: String }

        let server = try Upstream(
            "http://127.0.0.1:\(port)/api/",
            name: "library",
            allowedAddresses: ["127.0.0.0/8"]
        )
        let open = try RelayService(RoutePolicy(upstreams: [server]))
        let login = CredentialDefinition("login") {
            AccessToken(try await open.execute(PlainRequest<Grant>(.post, "token")).token)
        }
        var policy = RoutePolicy(upstreams: [server])
        policy.authentication = Authentication(form: .bearer, credential: "login")
        policy.recovery = [.reauthorize(), .backoff(on: [503, .connection])]
        self.open = open
        books = try RelayService(policy, name: "books", credentials: [login])
    }

    static func book(_ number: Int) -> PlainRequest<Book> {
        Request(.get, "books/\(number)", container: "/data")
    }

    func seen() async throws -> Seen { try await open.execute(Request(.get, "seen", container: "/data")) }
}
