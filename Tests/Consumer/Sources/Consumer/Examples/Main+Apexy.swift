import RelayKit
import RelayTesting
import Synchronization

// Each example of Apexy's guide does here what it does there.
extension Main {
    static func apexy() async throws {
        let (good, error) = (
            #"{"data": {"id": 7, "title": "Emma"}}"#, #"{"error": {"code": "token_invalid", "title": "T"}}"#
        )
        let logOuts = Mutex(0)
        let steps: [(ScriptedTransport.Step, String)] = [
            (.answer(200, [:], good), "Emma"), (.answer(200, [:], error), "token_invalid"),
            (.answer(401, [:], error), "token_invalid"), (.answer(500, [:], error), "token_invalid"),
            (.answer(500, [:], "oops"), "500"), (.answer(401, [:], #"{"error": {"code": "c"}}"#), "401"),
            (.answer(200, [:], #"{"error": null, "data": {"id": 7, "title": "Emma"}}"#), "Emma"),
            (
                .answer(
                    200,
                    [:],
                    #"{"error": {"code": "c", "title": "t"}, "data": {"id": 7, "title": "E"}}"#
                ), "c"
            ),
            (.answer(200, [:], #"{"items": []}"#), "content"),
            (.answer(200, [:], #"{"data": 7}"#), "content"),
            (.fail(.connectionRefused, .neverSent), "connection_refused"),
        ]
        let (service, script, _) = try scripted(
            policy(),
            steps.map(\.0),
            observers: [LogOut { logOuts.withLock { $0 += 1 } }]
        )
        var words: [String] = []
        for _ in steps {
            let outcome = await service.outcome(of: BookEndpoint(id: 7).request)
            switch outcome.error {
            case nil: words.append(outcome.value?.title ?? "nothing")
            case .api(let error)?: words.append(error.code)
            case .http(let status)?: words.append("\(status.rawValue)")
            case .content?: words.append("content")
            case .network(let kind)?: words.append("\(kind)")
            }
        }
        try expect(words == steps.map(\.1), "four families of errors, the server's own first: \(words)")
        try expect(logOuts.withLock { $0 } == 3, "an observer hears of each final error once")
        try expect(script.sent.allSatisfy { $0.target == "/api/books/7" }, "below the base")
        let (shown, _, _) = try scripted(policy(), [.answer(200, [:], good)])
        var states: [String?] = []
        await watched(shown) { book in
            states.append(book?.title)
            return book != nil
        }
        try expect(states.last == "Emma", "a loader shows the book when it comes")
    }
}
