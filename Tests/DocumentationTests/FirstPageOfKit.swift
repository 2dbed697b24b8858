import RelayKit
import RelaySockets

/// Prints what a server says, also when it has to be asked again.
func printGreeting() async throws {
    var policy = RoutePolicy(upstreams: [try Upstream("https://greetings.example/v1/")])
    policy.recovery = [.backoff(on: [429, 503, .connection])]
    let greetings = try RelayService(policy)
    print(try await greetings.execute(PlainRequest<String>(.get, "hello")))
}
