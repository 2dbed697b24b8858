import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Redirects on their way", .timeLimit(.minutes(5)))
struct FollowedRedirectTests {
    private func route(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
        makeRoute {
            $0.response.redirects = .follow
            change(&$0)
        }
    }

    private func to(_ location: String, _ status: Status = 302) -> ScriptedTransport.Step {
        .answer(status, [("Location", location)])
    }

    private func text(_ request: OutboundRequest) -> String {
        guard case .bytes(let bytes) = request.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("A redirect is an answer unless the route follows it")
    func notFollowed() async {
        let bench = Bench([to("/z")])
        let outcome = await bench.perform(on: makeRoute())
        #expect(outcome.status == 302 && bench.transport.sent.count == 1)
    }

    @Test("References are resolved against where the last answer came from, and it is one attempt")
    func chain() async {
        let bench = Bench([to("a/b"), to("c"), to("?p"), .answer(200)])
        let outcome = await bench.perform(on: route())
        #expect(outcome.status == 200 && outcome.attempts.map(\.redirects) == [3])
        #expect(bench.transport.sent.map(\.target) == ["/api/x", "/api/a/b", "/api/a/c", "/api/a/c?p"])
    }

    @Test("Five are followed in one attempt; the sixth is the answer, and a retry begins at the first place")
    func limit() async {
        let bench = Bench([]) { _ in .answer(302, [("Location", "n")]) }
        let once = await bench.perform(on: route())
        #expect(once.status == 302 && bench.transport.sent.count == 6 && once.attempts[0].redirects == 5)
        let again = await bench.perform(on: route { $0.recovery = [rule("r", ["3xx"], retry(2))] })
        #expect(again.attempts.map(\.redirects) == [5, 5])
        #expect(bench.transport.sent[6].target == "/api/x" && bench.transport.sent[12].target == "/api/x")
    }

    @Test("Content goes along on 307 and 308, is left behind on the others, and does not come back")
    func content() async {
        var fields = HeaderFields()
        fields.append("Content-Type", "text/plain")
        let bench = Bench([to("/a", 307), to("/b", 308), to("/c", 302), to("/d", 307), .answer(200)])
        _ = await bench.perform(.post, on: route(), fields: fields, body: .bytes(Array("paid".utf8)))
        let sent = bench.transport.sent
        #expect(sent.map(\.method) == [.post, .post, .post, .get, .get])
        #expect(sent.map(text) == ["paid", "paid", "paid", "", ""])
        #expect(sent.map { $0.fields.contains(.contentType) } == [true, true, true, false, false])
    }

    @Test("A streamed body that is gone keeps a 307 an answer; what needs no content is followed")
    func streamed() async {
        for (status, sends) in [(307, 1), (303, 2)] as [(UInt16, Int)] {
            let bench = Bench([to("/a", Status(rawValue: status)), .answer(200)])
            let outcome = await bench.perform(.post, on: route(), body: .stream(PieceBody(wasRead: true)))
            #expect(bench.transport.sent.count == sends)
            #expect(outcome.status == (sends == 1 ? status : 200))
        }
    }

    @Test("All hops share the attempt's deadline")
    func deadline() async {
        let bench = Bench([.take(.seconds(4)), to("/a"), .take(.seconds(4)), to("/b"), .answer(200)])
        _ = await bench.perform(on: route { $0.timeouts.attempt = .seconds(10) })
        #expect(Set(bench.transport.sent.map(\.deadline)) == [Instant(nanoseconds: 10_000_000_000)])
        #expect(bench.transport.sent.count == 3)
    }

    @Test(
        "The credential goes to its own origin's next page and to no other",
        arguments: [
            ("/next", 2), ("https://one.example/next", 2), ("https://two.example/next", 1),
            ("http://one.example/next", 1), ("//two.example/next", 1), ("https://one.example:8443/next", 1),
            ("https://one.example@two.example/", 1),
        ]
    )
    func credentials(location: String, sends: Int) async {
        let reference = SecretReference.credential("key")
        let bench = Bench(
            [to(location), .answer(200)],
            credentials: [CredentialDefinition(name: "c", kind: .fixed(reference))],
            secrets: [reference: Secret("s3cret")]
        )
        let outcome = await bench.perform(
            on: route { $0.authentication = Authentication(form: .bearer, credential: "c") }
        )
        #expect(bench.transport.sent.count == sends && outcome.status == (sends == 2 ? 200 : 302))
        for request in bench.transport.sent {
            #expect(request.upstream.origin.text == "https://one.example")
            #expect(request.addedFields.pairs.map(\.value) == ["Bearer s3cret"])
        }
    }

    @Test(
        "A request that was acted upon is not repeated because its result could not be fetched",
        arguments: [
            (.post, false, 303, 2), (.post, false, 302, 2), (.post, true, 303, 4), (.put, false, 303, 4),
            (.get, false, 302, 4), (.post, false, 307, 2),
        ] as [(Method, Bool, UInt16, Int)]
    )
    func actedUpon(method: Method, isKeyed: Bool, status: UInt16, sends: Int) async {
        let bench = Bench([
            to("/result", Status(rawValue: status)), .fail(.connectionRefused, .neverSent),
            to("/result", Status(rawValue: status)), .answer(200),
        ])
        var options = JobOptions()
        options.hasIdempotencyKey = isKeyed
        let outcome = await bench.perform(
            method,
            on: route { $0.recovery = [rule("r", ["connection"], retry())] },
            options: options
        )
        #expect(bench.transport.sent.count == sends)
        #expect(outcome.attempts[0].heldBack.map(\.reason) == (sends == 2 ? [.outcomeUnknown] : []))
        if sends == 2 { #expect(outcome.failure?.kind == .connectionRefused) }
    }

    @Test(
        "A POST that a redirect asked to repeat is answered by its last hop; one that became a GET has had its effect",
        arguments: [
            ("POST", UInt16(307), Status(rawValue: 429), Sent.refused, 4), ("POST", 308, 429, .refused, 4),
            ("POST", 307, 503, .answered, 2), ("POST", 303, 429, .unknown, 2),
            ("POST", 302, 429, .unknown, 2),
            // A server that answers 302 may have done it; it is not said that it is to be repeated.
            ("PATCH", 302, 429, .answered, 2),
        ]
    )
    func sentAfterRedirect(method: String, status: UInt16, last: Status, sent: Sent, sends: Int) async {
        let bench = Bench([]) { request in
            request.target == "/api/x"
                ? .answer(Status(rawValue: status), [("Location", "/z")]) : .answer(last)
        }
        let outcome = await bench.perform(
            Method(rawValue: method),
            on: route { $0.recovery = [rule("r", ["any"], retry(2))] }
        )
        #expect(outcome.failure?.sent == sent && bench.transport.sent.count == sends)
    }

    @Test("An attempt that was redirected counts, also when its last hop was never sent")
    func counts() async {
        let bench = Bench([]) { request in
            request.target == "/api/x" ? .answer(302, [("Location", "/z")]) : .fail(.dnsError, .neverSent)
        }
        let outcome = await bench.perform(
            on: route {
                $0.maxAttempts = 2
                $0.recovery = [rule("r", ["connection"], retry(50))]
            }
        )
        #expect(outcome.attempts.count == 2 && bench.transport.sent.count == 4)
    }
}
