import RelayKit
import RelayTesting
import Synchronization
import Testing

@Suite("Rates", .timeLimit(.minutes(1)))
struct RatesTests {
    @Test("Rules are read in order: wait, wait, move, stand in")
    func rules() async throws {
        let time = VirtualTime()
        let script = ScriptedTransport(.answer(503), .answer(503), .answer(503), .answer(500))
        let rates = try RelayService(.rates(), transport: script, time: time, entropy: SeededEntropy())
        let outcome = await rates.outcome(of: PlainRequest<HTTPResponse>(.get, "usd"))
        #expect(outcome.attempts.map(\.rule) == ["backoff", "backoff", "failover", "placeholder"])
        #expect(outcome.attempts.map(\.upstream) == ["rates", "rates", "rates", "spare"])
        #expect(time.waits == [.milliseconds(200), .seconds(1)])
        #expect(outcome.source == .placeholder)
    }

    @Test("After a 401 the form goes out once more, with another token")
    func tokens() async throws {
        var policy = try RoutePolicy.rates()
        policy.authentication = Authentication(form: .bearer, credential: "login")
        policy.recovery = [.reauthorize()]
        let tokens = Mutex(["new", "old"])
        let login = CredentialDefinition("login") { AccessToken(tokens.withLock { $0.removeLast() }) }
        let script = ScriptedTransport(.answer(401), .answer(204))
        let order = PlainRequest<Void>(.post, "orders", content: .form(["usd": "100"]))
        try await service(script, policy, credentials: [login]).execute(order)
        #expect(script.sent.map { $0[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(script.sent.map(\.target) == ["/v2/orders", "/v2/orders"])
        #expect(script.sent[1].method == .post && script.sent[1].text == "usd=100")
        #expect(script.sent[1].allFields[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test("An order that may have arrived is not sent again, one that has not is")
    func orders() async throws {
        var policy = try RoutePolicy.rates()
        policy.recovery = [.backoff(on: [.connection])]
        let order = PlainRequest<Void>(.post, "orders", content: .form(["usd": "100"]))
        let lost = ScriptedTransport(.fail(.connectionTerminated, .unknown))
        let failure = try await service(lost, policy).outcome(of: order).failure
        #expect(failure?.kind == .connectionTerminated && failure?.sent == .unknown)
        #expect(lost.sent.count == 1)
        let refused = ScriptedTransport(.fail(.connectionRefused, .neverSent), .answer(204))
        try await service(refused, policy).execute(order)
        #expect(refused.sent.count == 2)
    }
}
