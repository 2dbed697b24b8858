import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

/// Shows what it was given to sign.
private final class OpenSigner: MessageSigner {
    private let seen = Mutex<[String]>([])

    var messages: [String] { seen.withLock { $0 } }

    func signatures(of message: [UInt8], with settings: SigningSettings) throws(Failure) -> String {
        guard !settings.secrets.isEmpty else {
            throw Failure(.preparation, sent: .neverSent, "no secret")
        }
        seen.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
        return "v1,open"
    }
}

@Suite("A route that signs its requests", .timeLimit(.minutes(5)))
struct WebhookTests {
    private let id = JobID(milliseconds: 1, random: (2, 3)).description

    private func route(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
        makeRoute {
            $0.signing = SigningSettings(secrets: [.credential("key")])
            change(&$0)
        }
    }

    private func names(_ request: OutboundRequest) -> [String?] {
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map { name in
            FieldName(name).flatMap { request.allFields[$0] }
        }
    }

    @Test("Every attempt has the job's id, its own time, and a signature over id, time and body")
    func attempts() async {
        let signer = OpenSigner()
        let bench = Bench([], signer: signer) { _ in .answer(503) }
        let again = route { $0.recovery = [rule("r", ["5xx"], retry(3, wait: .seconds(60)))] }
        _ = await bench.deliverToTheEnd(.post, on: again, body: .bytes(Array("{}".utf8)))
        let start: Int64 = 1_800_000_000
        let times = [start, start + 60, start + 120]
        #expect(signer.messages == times.map { "\(id).\($0).{}" })
        #expect(bench.transport.sent.map(names) == times.map { [id, "\($0)", "v1,open"] })
    }

    @Test(
        "A value that the caller or a rule put into these fields is replaced, and never sent beside the relay's"
    )
    func replaced() async {
        var fields = HeaderFields()
        for name in ["Webhook-Id", "webhook-timestamp", "Webhook-Signature"] { fields.append(name, "mine") }
        let bench = Bench([.answer(200)], signer: OpenSigner())
        _ = await bench.deliver(
            .post,
            on: route { $0.request.setFields = [("Webhook-Id", "rule's")] },
            fields: fields
        )
        #expect(names(bench.transport.sent[0]) == [id, "1800000000", "v1,open"])
        let count = bench.transport.sent[0].allFields.pairs.count {
            $0.name.lowercased().hasPrefix("webhook")
        }
        #expect(count == 3)
    }

    @Test("A signed job has a key: after an unknown outcome it is sent again")
    func keyed() async {
        let bench = Bench([.fail(.httpResponseTimeout, .unknown)], signer: OpenSigner())
        let again = route { $0.recovery = [rule("r", ["timeout"], retry())] }
        #expect(await bench.deliver(.post, on: again).words.hasPrefix("retry"))
        #expect(again.mayRepeatAfterCrash(.post, HeaderFields()))
    }

    @Test(
        "A body that comes in pieces is collected, then signed, for every attempt",
        arguments: [true, false]
    )
    func collected(isDurable: Bool) async {
        let signer = OpenSigner()
        let bench = Bench([.answer(503), .answer(200)], signer: signer)
        let other = route { $0.recovery = [rule("other", ["5xx"], .failover(upstream: 1))] }
        let body = Body.stream(PieceBody([Array("ab".utf8), Array("cd".utf8)], wasRead: true))
        if isDurable {
            #expect(await bench.deliver(.post, on: other, body: body).words == "succeeded 200 upstream")
        } else {
            #expect(await bench.perform(.post, on: other, body: body).status == 200)
        }
        #expect(bench.transport.sent.map(\.text) == ["abcd", "abcd"])
        #expect(signer.messages == Array(repeating: "\(id).1800000000.abcd", count: 2))
    }

    @Test("A body too large to be signed is refused before anything is sent, and the error says what to do")
    func tooLarge() async {
        let bench = Bench([.answer(200)], signer: OpenSigner())
        let large = Array(repeating: [UInt8](repeating: 0x61, count: 1 << 20), count: 17)
        let run = await bench.deliver(.post, on: route(), body: .stream(PieceBody(large, wasRead: true)))
        #expect(run.words == "dead rejected" && bench.transport.sent.isEmpty)
        #expect(run.failure?.detail.contains("send a smaller one") == true)
    }

    @Test("Without a signer, or with one that fails, nothing is sent unsigned", arguments: [true, false])
    func cannotSign(hasSigner: Bool) async {
        let bench = Bench([.answer(200)], signer: hasSigner ? OpenSigner() : nil)
        let run = await bench.deliver(.post, on: route { $0.signing = SigningSettings(secrets: []) })
        #expect(run.words == "dead rejected" && bench.transport.sent.isEmpty)
    }

    @Test("A redirect that drops the body is signed for what it sends")
    func redirected() async {
        let signer = OpenSigner()
        let bench = Bench([.answer(303, [("Location", "/y")]), .answer(200)], signer: signer)
        _ = await bench.deliver(
            .post,
            on: route { $0.response.redirects = .follow },
            body: .bytes(Array("{}".utf8))
        )
        #expect(signer.messages == ["\(id).1800000000.{}", "\(id).1800000000."])
    }
}
