import RelayKit
import RelayTesting
import Testing

@Suite("The articles for those who come from another client", .timeLimit(.minutes(1)))
struct MigrationTests {
    private func policy() throws -> RoutePolicy {
        RoutePolicy(upstreams: [try Upstream("https://a.example/")])
    }

    @Test("A picture is there in any case, after four tries at most")
    func combine() async throws {
        let script = ScriptedTransport(
            .answer(503),
            .answer(503),
            .answer(503),
            .answer(503),
            .answer(503)
        )
        let pictures = try service(script, .pictures())
        #expect(await picture(of: "here", from: pictures) == Picture(name: "none"))
        #expect(script.sent.count == 4)
    }

    @Test("A place that fails ends no stream")
    func stream() async throws {
        let fine = ScriptedTransport.Step.answer(200, [:], #"{"name": "x"}"#)
        let script = ScriptedTransport { $0.target == "/places/2" ? .answer(404) : fine }
        let places = AsyncStream { continuation in
            for place in ["1", "2", "3"] { continuation.yield(place) }
            continuation.finish()
        }
        #expect(await show(places, from: try service(script, .pictures())) == ["x", "none", "x"])
    }

    @Test("A note goes up and comes back, and a failure is told by its kind")
    func session() async throws {
        let script = ScriptedTransport(
            .answer(200, [:], #"{"text": "b"}"#),
            .answer(404),
            .fail(.httpResponseTimeout, .unknown),
            .fail(.dnsError, .neverSent)
        )
        let notes = try service(script, try policy())
        #expect(try await write(Note(text: "a"), to: notes) == Note(text: "b"))
        #expect(script.sent[0].method == .put && script.sent[0].text == #"{"text":"a"}"#)
        #expect(await explanation(of: notes) == "the server answered 404")
        #expect(await explanation(of: notes) == "the request timed out")
        #expect(await explanation(of: notes) == "cannot find or reach the server")
    }

    @Test("A message is bytes, and its answer whole")
    func message() async throws {
        let script = ScriptedTransport(.answer(202, ["x": "y"], "ok"))
        let answer = try await post([1], to: service(script, try policy()))
        #expect(answer.status == 202 && answer.text == "ok")
    }
}
