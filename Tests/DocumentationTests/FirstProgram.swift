import RelayFoundation
import RelayKit
import RelaySockets

/// The answer to the server's `POST token`.
struct Grant: Decodable {
    let token: String
    /// Seconds.
    let lifetime: Int
}

/// The answer to the server's `GET titles/7`.
struct Title: Decodable, Equatable {
    let name: String
}

extension RoutePolicy {
    /// A server on this machine, and what happens after an attempt that failed.
    static func titles() throws(Refusal) -> RoutePolicy {
        var policy = RoutePolicy(upstreams: [
            try Upstream("http://127.0.0.1:9000/api/", allowedAddresses: ["127.0.0.0/8"])
        ])
        policy.authentication = Authentication(form: .bearer, credential: "login")
        policy.timeouts.total = .seconds(10)
        policy.recovery = [.reauthorize(), .backoff(on: [429, 503, .connection], maxAttempts: 3)]
        return policy
    }
}

extension CredentialDefinition {
    /// A token that expires when the server says.
    static func expiring(_ fetchGrant: @escaping @Sendable () async throws -> Grant) -> CredentialDefinition {
        CredentialDefinition("login") {
            let grant = try await fetchGrant()
            return AccessToken(grant.token, expiresIn: .seconds(grant.lifetime))
        }
    }
}

/// Tells everything that happens, a line each.
struct Narrator: AttemptObserver {
    var say: @Sendable (String) -> Void = { print($0) }

    func attemptBegan(_ attempt: Attempt, of job: RunningJob) {
        say("attempt \(attempt.number) goes to \(attempt.upstream)")
    }

    func responded(_ response: HTTPResponse, to attempt: Attempt, of job: RunningJob) {
        say("attempt \(attempt.number) was answered: \(response)")
    }

    func decided(_ attempt: Attempt, of job: RunningJob) {
        say("attempt \(attempt)")
    }

    func finished(_ job: FinishedJob) {
        say("job \(job.id) " + (job.failure.map { "failed: \($0)" } ?? "is done"))
    }
}

/// Says with every attempt which job it belongs to; the same id each time.
let jobField = Prepare(.job) { request, context in
    var request = request
    request.fields.set("X-Job", context.job)
    return request
}

/// Prints one title.
func printTitle(_ number: Int) async throws {
    // A service of its own for the server's unprotected part.
    let login = try RelayService(
        RoutePolicy(upstreams: [
            try Upstream("http://127.0.0.1:9000/api/", allowedAddresses: ["127.0.0.0/8"])
        ]),
        name: "login"
    )
    let titles = try RelayService(
        .titles(),
        name: "titles",
        credentials: [.expiring { try await login.execute(Request(.post, "token")) }],
        preparation: [jobField],
        observers: [Narrator()]
    )
    let title = try await titles.execute(PlainRequest<Title>(.get, "titles/\(number)"))
    print(title.name)
}
