import RelayBase
import RelayCore
import RelayJSON
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

private func settings(_ change: (inout OAuth2Settings) -> Void = { _ in }) -> OAuth2Settings {
    var settings = OAuth2Settings(
        grant: .clientCredentials,
        endpoint: Upstream(name: "token", origin: .tcp(host: "login.example", port: 443, isTLS: true)),
        target: "/token",
        clientID: "shop"
    )
    settings.clientSecret = .credential("secret")
    change(&settings)
    return settings
}

@Suite("The life of a fetched credential")
struct CredentialMachineTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private func name(_ action: CredentialMachine.Action) -> String {
        switch action {
        case .use(let token): "use \(token.generation)"
        case .useAndRefresh(let token): "use \(token.generation) and refresh"
        case .refresh: "refresh"
        case .wait: "wait"
        case .fail: "fail"
        }
    }

    @Test("The first to need it refreshes, the others wait, then all use it")
    func singleFlight() {
        var machine = CredentialMachine(settings: settings())
        #expect(name(machine.tokenWanted(refused: nil, now: at(0))) == "refresh")
        #expect(name(machine.tokenWanted(refused: nil, now: at(0))) == "wait")
        _ = machine.refreshed(Secret("a"), expiresIn: .seconds(3600), now: at(1))
        #expect(name(machine.tokenWanted(refused: nil, now: at(2))) == "use 1")
    }

    @Test(
        "A refused generation is replaced once; whoever comes late with it gets the new one",
        .clauses("N-04")
    )
    func generations() {
        var machine = CredentialMachine(settings: settings())
        _ = machine.tokenWanted(refused: nil, now: at(0))
        _ = machine.refreshed(Secret("a"), expiresIn: nil, now: at(0))
        #expect(name(machine.tokenWanted(refused: 1, now: at(1))) == "refresh")
        _ = machine.refreshed(Secret("b"), expiresIn: nil, now: at(2))
        #expect(name(machine.tokenWanted(refused: 1, now: at(3))) == "use 2")
    }

    @Test(
        "A token is replaced while it is still good, and never used past its end",
        arguments: [(0, "use 1"), (3539, "use 1"), (3540, "use 1 and refresh"), (3600, "refresh")]
            as [(Int64, String)]
    )
    func expiry(second: Int64, expected: String) {
        var machine = CredentialMachine(settings: settings())
        _ = machine.tokenWanted(refused: nil, now: at(0))
        _ = machine.refreshed(Secret("a"), expiresIn: .seconds(3600), now: at(0))
        #expect(name(machine.tokenWanted(refused: nil, now: at(second))) == expected)
    }

    @Test("A lifetime shorter than the margin is refreshed halfway, not at every request")
    func shortLifetime() {
        var machine = CredentialMachine(settings: settings())
        _ = machine.tokenWanted(refused: nil, now: at(0))
        _ = machine.refreshed(Secret("a"), expiresIn: .seconds(40), now: at(0))
        #expect(name(machine.tokenWanted(refused: nil, now: at(19))) == "use 1")
        #expect(name(machine.tokenWanted(refused: nil, now: at(20))) == "use 1 and refresh")
        #expect(name(machine.tokenWanted(refused: nil, now: at(20))) == "use 1")
    }

    @Test("A failed refresh is remembered for its cool-down, and a good token is used meanwhile")
    func cooldown() {
        var machine = CredentialMachine(settings: settings { $0.failureCooldown = .seconds(2) })
        _ = machine.tokenWanted(refused: nil, now: at(0))
        machine.refreshFailed(Failure(.credentialsFailed, sent: .neverSent, "no"), now: at(0))
        #expect(name(machine.tokenWanted(refused: nil, now: at(1))) == "fail")
        #expect(name(machine.tokenWanted(refused: nil, now: at(2))) == "refresh")
        _ = machine.refreshed(Secret("a"), expiresIn: .seconds(100), now: at(2))
        #expect(name(machine.tokenWanted(refused: nil, now: at(60))) == "use 1 and refresh")
        machine.refreshFailed(Failure(.credentialsFailed, sent: .neverSent, "no"), now: at(60))
        #expect(name(machine.tokenWanted(refused: nil, now: at(61))) == "use 1")
        #expect(name(machine.tokenWanted(refused: nil, now: at(62))) == "use 1 and refresh")
    }

    @Test("It is told since when no fetch succeeded, also while there is another")
    func since() {
        var machine = CredentialMachine(settings: settings { $0.failureCooldown = .seconds(2) })
        let failure = Failure(.credentialsFailed, sent: .neverSent, "no")
        #expect(machine.failingSince == nil)
        machine.refreshFailed(failure, now: at(3))
        _ = machine.tokenWanted(refused: nil, now: at(6))
        #expect(machine.isRefreshing && machine.failingSince == at(3))
        machine.refreshFailed(failure, now: at(7))
        #expect(machine.failingSince == at(3))
        _ = machine.refreshed(Secret("a"), expiresIn: nil, now: at(9))
        #expect(machine.failingSince == nil)
    }
}

@Suite("The token endpoint's answers")
struct TokenExchangeTests {
    private let exchange = TokenExchange(settings: settings())

    @Test("The secret goes into Basic, form-encoded first, or into the body")
    func authentication() {
        let basic = exchange.request(
            clientSecret: Secret("a:b c"),
            refreshToken: nil,
            now: Instant(nanoseconds: 0)
        )
        let name = FieldName("authorization")
        #expect(name.flatMap { basic.fields[$0] } == "Basic " + base64(Array("shop:a%3Ab+c".utf8)))
        guard case .bytes(let body) = basic.body else {
            Issue.record("no body")
            return
        }
        #expect(String(decoding: body, as: UTF8.self) == "grant_type=client_credentials")
        let post = TokenExchange(
            settings: settings {
                $0.clientAuthentication = .post
                $0.grant = .refreshToken(.credential("r"))
                $0.scopes = ["a", "b"]
            }
        ).request(clientSecret: Secret("s"), refreshToken: Secret("r&"), now: Instant(nanoseconds: 0))
        guard case .bytes(let form) = post.body else {
            Issue.record("no body")
            return
        }
        #expect(
            String(decoding: form, as: UTF8.self)
                == "grant_type=refresh_token&refresh_token=r%26&scope=a+b&client_id=shop&client_secret=s"
        )
    }

    @Test("A good answer gives token, lifetime and rotated refresh token")
    func good() throws {
        let body = #"{"access_token":"abc","token_type":"bearer","expires_in":3600,"refresh_token":"next"}"#
        let grant = try exchange.grant(status: 200, body: Array(body.utf8))
        #expect(grant.token == Secret("abc") && grant.expiresIn == .seconds(3600))
        #expect(grant.refreshToken == Secret("next"))
    }

    @Test(
        "Garbage is a named failure that repeats none of it",
        arguments: [
            (200, ""), (200, "CANARY"), (200, "[]"), (200, "{}"), (200, #"{"access_token":""}"#),
            (200, #"{"access_token":1}"#), (200, #"{"access_token":"CANARY\r\nX: y"}"#),
            (200, #"{"access_token":"CANARY x"}"#),
            (200, #"{"access_token":"CANARY","token_type":"mac"}"#),
            (200, #"{"access_token":"a","access_token":"b"}"#),
            (400, #"{"error":"CANARY"}"#), (401, "CANARY"), (302, ""), (500, "{}"), (204, ""),
            (200, "{\"access_token\":\"é\"}"),
        ] as [(UInt16, String)]
    )
    func garbage(status: UInt16, body: String) {
        let error = #expect(throws: Failure.self) {
            _ = try exchange.grant(status: Status(rawValue: status), body: Array(body.utf8))
        }
        #expect(error?.kind == .credentialsFailed && error?.detail.contains("CANARY") == false)
        #expect(error?.detail.contains("https://login.example") == true)
    }

    @Test(
        "A usable token is used, whatever is said of its lifetime",
        arguments: [
            ("", nil), (#","expires_in":null"#, nil), (#","expires_in":true"#, nil),
            (#","expires_in":[]"#, nil),
            (#","expires_in":"""#, nil), (#","expires_in":"soon""#, nil), (#","expires_in":"inf""#, nil),
            (#","expires_in":"0x10""#, nil), (#","expires_in":{"seconds":5}"#, nil),
            (#","expires_in":3600"#, 3600), (#","expires_in":3600.0"#, 3600),
            (#","expires_in":3599.5"#, 3599),
            (#","expires_in":3.6e3"#, 3600), (#","expires_in":"3600""#, 3600),
            (#","expires_in":"3600.0""#, 3600),
            (#","expires_in":" 3600 ""#, 3600), (#","expires_in":1.5"#, 1), (#","expires_in":0.5"#, 1),
            (#","expires_in":0"#, 1), (#","expires_in":-0"#, 1), (#","expires_in":-1"#, 1),
            (#","expires_in":"-3600""#, 1), (#","expires_in":-1e999"#, 1), (#","expires_in":1e-999"#, 1),
            (#","expires_in":9223372036854775808"#, 315_360_000), (#","expires_in":1e300"#, 315_360_000),
            (#","expires_in":1e999"#, 315_360_000), (#","expires_in":"1e999""#, 315_360_000),
        ] as [(String, Int64?)]
    )
    func lifetimes(member: String, seconds: Int64?) throws {
        let body = #"{"access_token":"abc""# + member + "}"
        let grant = try exchange.grant(status: 200, body: Array(body.utf8))
        #expect(grant.token == Secret("abc"))
        #expect(grant.expiresIn == seconds.map { .seconds($0) })
    }

    @Test(
        "An answer in the endpoint's own words is read where it is said to stand",
        arguments: [
            (#""life":90000"#, 90), (#""life":"1500""#, 1), (#""life":999"#, 1), (#""life":null"#, nil),
            (#""life":1e999"#, 315_360_000), (#""expires_in":3600"#, nil),
        ] as [(String, Int64?)]
    )
    func ownWords(member: String, seconds: Int64?) throws {
        let exchange = TokenExchange(
            settings: settings {
                $0.answer.token = JSONPointer(tokens: ["data", "jwt"])
                $0.answer.lifetime = JSONPointer(tokens: ["data", "life"])
                $0.answer.lifetimeUnit = .milliseconds
            }
        )
        let body = #"{"token_type":"session","access_token":"other","data":{"jwt":"abc",\#(member)}}"#
        let grant = try exchange.grant(status: 200, body: Array(body.utf8))
        #expect(grant.token == Secret("abc"))
        #expect(grant.expiresIn == seconds.map { .seconds($0) })
        let error = #expect(throws: Failure.self) {
            _ = try exchange.grant(status: 200, body: Array(#"{"access_token":"CANARY"}"#.utf8))
        }
        #expect(error?.detail.contains("without a usable token at /data/jwt") == true)
        #expect(error?.detail.contains("CANARY") == false)
    }

    @Test("The standard's error code is told")
    func standardCode() {
        let error = #expect(throws: Failure.self) {
            _ = try exchange.grant(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))
        }
        #expect(error?.detail.contains("400 (invalid_grant)") == true)
    }
}

@Suite("Credentials shared by many jobs", .runQueue, .timeLimit(.minutes(5)))
struct CredentialVaultTests {
    private func route() -> Route {
        makeRoute {
            $0.authentication = Authentication(form: .bearer, credential: "c")
            $0.recovery = [rule("stale", ["401"], .refreshCredentials(maxTimes: 1))]
        }
    }

    private func bench(
        mode: VirtualTime.Mode = .manual,
        _ change: (inout OAuth2Settings) -> Void = { _ in },
        answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step
    ) -> Bench {
        Bench(
            [],
            mode: mode,
            credentials: [CredentialDefinition(name: "c", kind: .oauth2(settings(change)))],
            secrets: [.credential("secret"): Secret("s")],
            answer: answer
        )
    }

    private static func isToken(_ request: OutboundRequest) -> Bool { request.upstream.name == "token" }

    private static func bearer(_ request: OutboundRequest) -> String? {
        FieldName("authorization").flatMap { request.addedFields[$0] }
    }

    /// The tokens are t1, t2 and so on; what comes with one is answered by `status`.
    private func numbered(_ status: @escaping @Sendable (String?) -> Status) -> Bench {
        let tokens = Mutex(0)
        return bench { request in
            guard Self.isToken(request) else { return .answer(status(Self.bearer(request))) }
            let count = tokens.withLock { count in
                count += 1
                return count
            }
            return .answer(200, [], #"{"access_token":"t\#(count)"}"#)
        }
    }

    @Test("401, then one refresh, then 200")
    func refreshOn401() async {
        let bench = numbered { $0 == "Bearer t2" ? 200 : 401 }
        let outcome = await bench.perform(on: route())
        #expect(outcome.status == 200 && outcome.attempts.count == 2)
        #expect(bench.transport.sent.filter(Self.isToken).count == 2)
        #expect(outcome.attempts[0].next == .refreshCredentials)
    }

    @Test("A hundred jobs that need the first token are one token request")
    func oneRefresh() async {
        let asked = Mutex(0)
        let bench = bench { request in
            guard Self.isToken(request) else { return .answer(200) }
            let isFirst = asked.withLock { asked in
                asked += 1
                return asked == 1
            }
            return isFirst ? .hold : .answer(200, [], #"{"access_token":"t"}"#)
        }
        let route = route()
        let done = await withTaskGroup(of: UInt16?.self) { group in
            for _ in 0..<100 { group.addTask { await bench.perform(on: route).status } }
            group.addTask {
                await untilIdle()
                bench.transport.release()
                return nil
            }
            var statuses: [UInt16] = []
            for await status in group { if let status { statuses.append(status) } }
            return statuses
        }
        #expect(done == Array(repeating: 200, count: 100))
        #expect(bench.transport.sent.filter(Self.isToken).count == 1)
    }

    @Test("A hundred jobs that meet 401 with the same token are one refresh more", .clauses("N-01", "X-07"))
    func one401Refresh() async {
        let bench = numbered { $0 == "Bearer t1" ? 401 : 200 }
        let route = route()
        let statuses = await withTaskGroup(of: UInt16?.self) { group in
            for _ in 0..<100 { group.addTask { await bench.perform(on: route).status } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect(bench.transport.sent.filter(Self.isToken).count == 2)
    }

    @Test(
        "A refresh that fails fails every waiter with the same words, and is not asked again at once",
        .clauses("N-02")
    )
    func failedRefresh() async {
        let bench = bench { request in
            Self.isToken(request) ? .answer(400, [], #"{"error":"invalid_client"}"#) : .answer(200)
        }
        let route = route()
        let failures = await withTaskGroup(of: Failure?.self) { group in
            for _ in 0..<5 { group.addTask { await bench.perform(on: route).failure } }
            return await group.reduce(into: [await bench.perform(on: route).failure]) { $0.append($1) }
        }
        #expect(failures.allSatisfy { $0?.kind == .credentialsFailed } && failures.count == 6)
        let words = "the token endpoint https://login.example answered 400 (invalid_client)"
        #expect(Set(failures.map { $0?.detail }) == [words] && bench.transport.sent.count == 1)
    }

    @Test("A token request that is answered 401 does not ask for another token", .clauses("N-03"))
    func noRecursion() async {
        let bench = bench { _ in .answer(401) }
        let failure = await bench.perform(on: route()).failure
        #expect(failure?.kind == .credentialsFailed && failure?.detail.contains("401") == true)
        #expect(bench.transport.sent.map(\.upstream.name) == ["token"])
    }

    @Test("Fifty jobs of a route that refuses every token cost one fetch more than one, and say why")
    func fewFetches() async {
        let (bench, memory) = (numbered { _ in 401 }, RouteMemory())
        let cooldown = HeldBack(
            rule: "stale",
            reason: .freshTokenRefused(for: RefusedTokenMachine.firstWait)
        )
        #expect(await bench.perform(on: route(), memory: memory).attempts.count == 2)
        for _ in 0..<50 {
            let outcome = await bench.perform(on: route(), memory: memory)
            #expect(outcome.attempts.count == 1 && outcome.attempts[0].heldBack == [cooldown])
        }
        #expect(bench.transport.sent.filter(Self.isToken).count == 2)
    }

    @Test(
        "After the cool-down one is fetched again, which an upstream that takes it accepts, and the count begins anew"
    )
    func recovers() async {
        let wanted = Mutex(3)
        let memory = RouteMemory()
        let bench = numbered { bearer in
            let number = Int(bearer?.dropFirst("Bearer t".count) ?? "") ?? 0
            return wanted.withLock { number >= $0 } ? 200 : 401
        }
        _ = await bench.perform(on: route(), memory: memory)
        bench.time.advance(by: .seconds(1))
        let outcome = await bench.perform(on: route(), memory: memory)
        #expect(outcome.status == 200 && outcome.attempts.count == 2)
        wanted.withLock { $0 = 4 }
        #expect(await bench.perform(on: route(), memory: memory).status == 200)
        #expect(bench.transport.sent.filter(Self.isToken).count == 4)
    }

    @Test("Cancelling one waiter leaves the refresh to the others", .clauses("N-05"))
    func cancelOne() async {
        let asked = Mutex(0)
        let bench = bench { request in
            guard Self.isToken(request) else { return .answer(200) }
            let isFirst = asked.withLock { asked in
                asked += 1
                return asked == 1
            }
            return isFirst ? .hold : .answer(200, [], #"{"access_token":"t"}"#)
        }
        let route = route()
        let first = Task { await bench.perform(on: route) }
        await untilIdle()
        let second = Task { await bench.perform(on: route) }
        await untilIdle()
        first.cancel()
        #expect(await first.value.failure?.kind == .cancelled)
        bench.transport.release()
        #expect(await second.value.status == 200)
        #expect(bench.transport.sent.filter(Self.isToken).count == 1)
    }

    @Test("The client secret goes to the token endpoint alone, and the token to the upstream alone")
    func bound() async {
        let bench = bench { request in
            Self.isToken(request) ? .answer(200, [], #"{"access_token":"t"}"#) : .answer(200)
        }
        var fields = HeaderFields()
        fields.append("Authorization", "Bearer callers-own")
        _ = await bench.perform(on: route(), fields: fields)
        let sent = bench.transport.sent
        #expect(sent.map(\.upstream.origin.text) == ["https://login.example", "https://one.example"])
        let upstreamFields = sent[1].fields.pairs + sent[1].addedFields.pairs
        #expect(upstreamFields.filter { $0.name == "Authorization" }.map(\.value) == ["Bearer t"])
    }

    @Test("A secret prints as nothing wherever it is put")
    func secrecy() {
        let secret = Secret("CANARY")
        #expect("\(secret) \(String(reflecting: secret)) \([secret])".contains("CANARY") == false)
        #expect("\(Token(secret: secret, generation: 1, expiresAt: nil))".contains("CANARY") == false)
    }
}
