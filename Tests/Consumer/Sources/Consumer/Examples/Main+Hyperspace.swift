import RelayKit
import RelayTesting
import Synchronization

// Each example of Hyperspace's guides does here what it does there.
extension Main {
    static let answered = #"{"id": 7, "title": "Emma"}"#

    static func policy(_ recovery: RecoveryRule...) throws -> RoutePolicy {
        try RoutePolicy("https://books.example/api/", recovery: recovery)
    }

    static func hyperspace() async throws {
        try await ownErrors()
        try await newTokens()
        try await strategies()
        try await redirect()
        try await complaints()
        try await waits()
        try await prepared()
        try await told()
    }

    private static func ownErrors() async throws {
        let (service, _, _) = try scripted(
            policy(),
            [.answer(404), .answer(401), .answer(500), .answer(200, [:], answered)]
        )
        let request = Request.book(7).throwing(LibraryError.self)
        var errors: [String] = []
        for _ in 0..<4 {
            do throws(LibraryError) {
                errors.append(try await service.execute(request).title)
            } catch {
                switch error {
                case .notFound: errors.append("not found")
                case .unauthorized: errors.append("unauthorized")
                case .other(let failure): errors.append("\(failure.status ?? 0)")
                }
            }
        }
        try expect(
            errors == ["not found", "unauthorized", "500 Internal Server Error", "Emma"],
            "an error of one's own reads each status"
        )
        let (desk, _, _) = try scripted(
            policy(),
            [.answer(200, [:], #"{"code": "sold out"}"#), .answer(200, [:], "<html>"), .answer(503)]
        )
        let asked = Request.book(7).throwing(DeskError.self)
        guard case .complaint(let complaint)? = await desk.outcome(of: asked).error,
            case .decoding(let failure)? = await desk.outcome(of: asked).error,
            case .network(let down)? = await desk.outcome(of: asked).error
        else { throw Broken(description: "a success that does not decode is offered to the error") }
        try expect(complaint.code == "sold out", "a 200 that does not decode may be the server's error")
        try expect(failure.underlying is DecodingError, "or is what the decoder says")
        try expect(down.status == 503 && down.sent == .answered, "and the failure stays within reach")
    }

    private static func newTokens() async throws {
        var guarded = try policy()
        guarded.logIn()
        let tokens = Mutex(0)
        let credential = login {
            tokens.withLock { count in
                count += 1
                return "token \(count)"
            }
        }
        let (service, script, _) = try scripted(
            guarded,
            [.answer(401), .answer(200, [:], answered), .answer(401), .answer(401)],
            credentials: [credential]
        )
        try expect(try await service.execute(.book(7)).title == "Emma", "a 401 leads to a token and the book")
        try expect(
            script.sent.map { $0[.authorization] } == ["Bearer token 1", "Bearer token 2"],
            "sent again with the new one"
        )
        try expect(
            await service.outcome(of: .book(7)).failure?.status == 401,
            "refused again, the caller gets the 401 itself"
        )
        try expect(script.sent.count == 4 && tokens.withLock { $0 } == 3, "and nothing is fetched in vain")
        try expect(
            try await counted(guarded, fails: true) == 0,
            "a token that cannot be fetched sends nothing"
        )
    }

    private static func counted(_ policy: RoutePolicy, fails: Bool) async throws -> Int {
        let lost = login { throw Broken(description: "no token") }
        let (service, script, _) = try scripted(policy, [.answer(200)], credentials: [lost])
        _ = await service.outcome(of: .book(7))
        return script.sent.count
    }

    private static func strategies() async throws {
        let fetches = Mutex(0)
        let newToken = NewToken {
            fetches.withLock { $0 += 1 }
            return "new"
        }
        let rules = try policy(.strategy(newToken))
        let (service, script, _) = try scripted(rules, [.answer(401), .answer(200, [:], answered)])
        try expect(try await service.execute(.book(7)).id == 7, "a strategy of one's own logs in again")
        try expect(script.sent.map { $0.fields[.authorization] } == [nil, "Bearer new"], "with its token")
        let (other, _, _) = try scripted(rules, [.answer(500)])
        try expect(await other.outcome(of: .book(7)).failure?.status == 500, "another failure is not its own")
        var once = rules
        once.maxAttempts = 1
        let (spent, _, _) = try scripted(once, [.answer(401)])
        try expect(await spent.outcome(of: .book(7)).failure?.status == 401, "nothing left: the 401 itself")
        try expect(fetches.withLock { $0 } == 1, "and no token was fetched for that")
        let (decoding, sent, _) = try scripted(rules, [.answer(200, [:], "<html>")])
        try expect(
            await decoding.outcome(of: .book(7)).failure?.kind == .decoding && sent.sent.count == 1,
            "content that does not decode is offered to strategies, and passed on"
        )
    }

    private static func redirect() async throws {
        let (service, script, _) = try scripted(
            policy(.backoff(on: [.any])),
            [.answer(302, ["Location": "https://shop.example/7"]), .answer(404), .answer(404), .answer(404)]
        )
        try expect(try await service.execute(.shop(of: 7)) == "https://shop.example/7", "a 302 is a success")
        try expect(script.sent.count == 1, "before any rule")
        try expect(await service.outcome(of: .shop(of: 7)).failure?.status == 404, "another status is none")
    }

    private static func complaints() async throws {
        let complaint = #"{"code": "sold out"}"#
        let (service, _, _) = try scripted(
            policy(),
            [
                .answer(200, [:], complaint), .answer(200, [:], answered), .answer(200, [:], complaint),
                .answer(503),
            ]
        )
        let failure = await service.outcome(of: .checked(7)).failure
        try expect((failure?.underlying as? Complaint)?.code == "sold out", "a 200 that complains is no book")
        try expect(failure?.kind == .apiError && failure?.status == 200, "and is not one of decoding")
        try expect(try await service.execute(.checked(7)).title == "Emma", "a book is one")
        guard case .complaint(let said)? = await service.outcome(of: explained(7)).error,
            case .network(let down)? = await service.outcome(of: explained(7)).error
        else { throw Broken(description: "an error is rewritten once, at the end, whatever its stage") }
        try expect(said.code == "sold out" && down.status == 503, "an error is rewritten whatever its stage")
    }

    private static func waits() async throws {
        let rules = try waiting(for: "https://books.example/api/").policy
        let (service, script, time) = try scripted(
            rules,
            [.answer(503), .answer(503, ["Retry-After": "7"]), .answer(200, [:], answered), .answer(500)]
        )
        try expect(try await service.execute(.book(7)).title == "Emma", "a 503 is waited for")
        try expect(script.sent.count == 3 && time.waits.last == .seconds(7), "as long as the server asks")
        try expect(await service.outcome(of: .book(7)).attempts.count == 1, "another status is not")
    }

    private static func prepared() async throws {
        let steps: [ScriptedTransport.Step] = [.answer(503), .answer(200, [:], answered)]
        let (service, script, _) = try scripted(
            policy(.backoff(on: [503])),
            steps,
            preparation: [signing { $0.target + ($0.fields["X-Signature"] ?? "!") }]
        )
        _ = try await service.execute(.book(7))
        let values = script.sent.map { $0["X-Signature"] }
        try expect(
            values == ["books/7!", "books/7!"],
            "each attempt is prepared from the unprepared request"
        )
        let (unsigned, none, _) = try scripted(
            policy(.backoff(on: [.any])),
            steps,
            preparation: [signing { _ in throw Broken(description: "no key") }]
        )
        let failure = await unsigned.outcome(of: .book(7)).failure
        try expect(failure?.kind == .preparation && none.sent.isEmpty, "what cannot be prepared is not sent")
    }

    private static func told() async throws {
        let (service, _, _) = try scripted(
            policy(),
            [
                .answer(200, [:], answered), .fail(.connectionRefused, .neverSent), .answer(304),
                .answer(600),
                .answer(200, [:], "<html>"),
            ]
        )
        var words: [String] = []
        for _ in 0..<5 { await Consumer.told(by: service) { words.append($0) } }
        try expect(
            words == ["Emma", "connection_refused", "http_status", "http_protocol_error", "decoding"],
            "a call returns or throws, and every stage has a kind"
        )
    }
}

extension HeaderFields {
    fileprivate subscript(name: String) -> String? { FieldName(name).flatMap { self[$0] } }
}

extension OutboundRequest {
    fileprivate subscript(name: String) -> String? { FieldName(name).flatMap { self[$0] } }
}
