import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

@Suite("A refresh token that its endpoint gave in the place of another", .timeLimit(.minutes(1)))
struct RotatedTokenTests {
    /// A disk that refuses so many writes, and then keeps what it is given.
    private final class Keeper: RefreshTokenKeeper {
        private let state: Mutex<(refusals: Int, kept: Secret?)>

        init(refusals: Int) { state = Mutex((refusals, nil)) }

        var kept: Secret? { state.withLock { $0.kept } }

        func token(of owner: RefreshTokenOwner) -> Secret? { kept }

        func keep(_ token: Secret, of owner: RefreshTokenOwner) async throws(StoreError) {
            let isRefused = state.withLock { state in
                defer { state.refusals -= 1 }
                if state.refusals > 0 { return true }
                state.kept = token
                return false
            }
            if isRefused { throw StoreError(.full, "no room") }
        }
    }

    private func definition() -> CredentialDefinition {
        var settings = OAuth2Settings(
            grant: .refreshToken(.credential("first")),
            endpoint: Upstream(name: "token", origin: .tcp(host: "login.example", port: 443, isTLS: true)),
            target: "/token",
            clientID: "shop"
        )
        settings.clientAuthentication = .post
        return CredentialDefinition(name: "login", kind: .oauth2(settings))
    }

    /// The forms that the endpoint was sent.
    private func forms(_ transport: ScriptedTransport) -> [String] {
        transport.sent.map { request in
            guard case .bytes(let form) = request.body else { return "" }
            return String(decoding: form, as: UTF8.self)
        }
    }

    @Test(
        "It is used only once it is on disk: until then the endpoint is not asked, and the caller is told why",
        arguments: [0, 1, 2, 3]
    )
    func kept(refusals: Int) async throws {
        let answer = #"{"access_token":"a","token_type":"bearer","refresh_token":"second"}"#
        let time = VirtualTime()
        let transport = ScriptedTransport(time: time) { _ in .answer(200, [], answer) }
        let keeper = Keeper(refusals: refusals)
        let secrets: [SecretReference: Secret] = [.credential("first"): Secret("first")]
        let vault = CredentialVault([definition()], secrets: secrets, keeper: keeper)
        let ports = RelayPorts(
            transport: transport,
            time: time,
            entropy: SeededEntropy(),
            sink: RecordingSink(),
            start: { work in Task { await work() } }
        )
        // The access token is good, whatever the disk says of the refresh token beside it.
        let first = try await vault.token("login", refused: nil, ports: ports)
        // The first write was tried with the answer that brought it.
        for _ in 0..<max(0, refusals - 1) {
            let failure = await #expect(throws: Failure.self) {
                try await vault.token("login", refused: first.generation, ports: ports)
            }
            #expect(failure?.kind == .credentialsFailed)
            #expect(failure?.detail.contains("is not on disk yet: no room") == true)
            #expect(transport.sent.count == 1 && keeper.kept == nil)
            time.advance(by: .seconds(3))
        }
        let second = try await vault.token("login", refused: first.generation, ports: ports)
        #expect(second.generation > first.generation && keeper.kept == Secret("second"))
        #expect(forms(transport).map { $0.contains("refresh_token=first") } == [true, false])
        #expect(forms(transport).last?.contains("refresh_token=second") == true)
    }
}
