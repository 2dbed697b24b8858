import RelayBase

/// One request of the demo and what must come of it.
struct DemoScene {
    let title: String
    let route: String
    var method: Method = .get
    let path: String
    var body = ""
    var key: String?
    let status: Status
    let attempts: Int
    /// The lesson to learn from it.
    let moral: String

    static let all = [
        DemoScene(
            title: "The first upstream refuses connections",
            route: "failover",
            path: "stock/42",
            status: 200,
            attempts: 2,
            moral: "Never sent, so it goes to the second upstream at once."
        ),
        DemoScene(
            title: "503, come back in a second",
            route: "busy",
            path: "report",
            status: 200,
            attempts: 2,
            moral: "Retry-After is honoured."
        ),
        DemoScene(
            title: "The token was revoked",
            route: "account",
            path: "balance",
            status: 200,
            attempts: 2,
            moral: "One refresh, and the request goes out again with the new token."
        ),
        DemoScene(
            title: "An error inside a 200",
            route: "rates",
            path: "eur",
            status: 200,
            attempts: 2,
            moral: "The body says it failed, whatever the status; /data is unwrapped."
        ),
        DemoScene(
            title: "A redirect that is the answer",
            route: "sign-in",
            method: .post,
            path: "session",
            body: "name=demo",
            status: 302,
            attempts: 1,
            moral: "The route takes 302 as a success and follows nothing."
        ),
        DemoScene(
            title: "An answer that stops in the middle",
            route: "feed",
            path: "latest",
            status: 200,
            attempts: 1,
            moral: "Given up after 600ms without a byte; a placeholder keeps the caller going."
        ),
        DemoScene(
            title: "A POST whose answer is lost",
            route: "orders",
            method: .post,
            path: "new",
            body: #"{"item": 42}"#,
            status: 502,
            attempts: 1,
            moral: "It may have been carried out, so it is not sent again."
        ),
        DemoScene(
            title: "The same POST with an idempotency key",
            route: "orders",
            method: .post,
            path: "keyed",
            body: #"{"item": 42}"#,
            key: "demo-8841",
            status: 201,
            attempts: 2,
            moral: "The key makes repeating it safe."
        ),
    ]
}
