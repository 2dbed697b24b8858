import RelayJSON
import RelayRoute
import Testing

@Suite("A call of the API that is wrong is told where", .timeLimit(.minutes(5)))
struct RefusedCallTests {
    private static let id = "01K9ZQ3V7N4T0C8R5B2M6XW1HD"

    private static let queries: [(target: String, status: String, word: String)] = [
        ("/v1/jobs?rout=a", "400", "\"did_you_mean\":\"route\""),
        ("/v1/jobs?limit=0", "400", "from 1 to 500"),
        ("/v1/jobs?limit=501", "400", "from 1 to 500"),
        ("/v1/jobs?limit=99999999999999999999", "400", "from 1 to 500"),
        ("/v1/jobs?limit=1&limit=2", "400", "stands twice"),
        ("/v1/jobs?state=ded", "400", "\"did_you_mean\":\"dead\""),
        ("/v1/jobs?state=dead,", "400", "state knows no"),
        ("/v1/jobs?reason=backof", "400", "\"did_you_mean\":\"backoff\""),
        ("/v1/jobs?order=up", "400", "newest, oldest"),
        ("/v1/jobs?created_after=yesterday", "400", "RFC 3339"),
        ("/v1/jobs?created_before=2026-02-30T00:00:00Z", "400", "RFC 3339"),
        ("/v1/jobs?created_before=9999-12-31T23:59:59-00:01", "400", "RFC 3339"),
        ("/v1/jobs?cursor=7", "400", "cursor is what"),
        ("/v1/jobs?cursor=c%2D5", "400", "cursor is what"),
        ("/v1/jobs?route=", "400", "1 to 256 bytes"),
        ("/v1/jobs?route=upp", "404", "\"did_you_mean\":\"up\""),
        ("/v1/shape?route=upp", "404", "\"did_you_mean\":\"up\""),
        ("/v1/jobs?label=%FF", "400", "not UTF-8"),
        ("/v1/jobs/nothing", "404", "job_not_found"),
        ("/v1/jobs/\(id)", "404", "job_not_found"),
        ("/v1/jobs/\(id)?include=bodies", "400", "include knows no"),
        ("/v1/jobs/\(id)?wait=301s", "400", "at most 5m"),
        ("/v1/jobs/\(id)?wait=30", "400", "a duration with a unit"),
        ("/v1/jobs/\(id)/attempts?after=-1", "400", "after is a whole number"),
        ("/v1/jobs/\(id)/attempts?limit=x", "400", "limit is a whole number"),
        ("/v1/jobs/\(id)/request/body?a=b", "400", "it has none"),
        ("/v1/jobs/\(id)/answer", "404", "path_not_found"),
        ("/v1/jobs//attempts", "400", "bad_target"),
        ("/v1/shape?by=failure", "400", "route, state"),
        ("/v1/events?type=waystation.job.ded", "400", "\"did_you_mean\":\"waystation.job.dead\""),
        ("/v1/events?job=7", "400", "26 characters"),
        ("/v1/events?after=-1", "400", "whole number"),
        ("/v1/routes/nowhere", "404", "route_not_found"),
        ("/v1/routes/upp", "404", "\"did_you_mean\":\"up\""),
        ("/v1/routes?x=1", "400", "no parameter"),
    ]

    @Test("A parameter that is unknown, repeated or malformed", arguments: queries)
    func query(target: String, status: String, word: String) throws {
        let served = try ServedLoop(role: .admin)
        let reply = try served.ask("GET", target)
        #expect(reply.status == status && reply.body.contains(word), "\(reply.head) \(reply.body)")
    }

    private static let options: [(options: String, pointer: String)] = [
        (#"{"delay":10}"#, "/options/delay"),
        (#"{"delay":"10"}"#, "/options/delay"),
        (#"{"delay":"366d"}"#, "/options/delay"),
        (#"{"expires_after":"500ms"}"#, "/options/expires_after"),
        (#"{"not_before":"tomorrow"}"#, "/options/not_before"),
        (#"{"not_before":"2027-01-31T08:00:00"}"#, "/options/not_before"),
        (#"{"not_before":"2027-01-31T08:00:00Z","delay":"1s"}"#, "/options/delay"),
        (#"{"delay":"300d"}"#, "/options/delay"),
        (#"{"delay":"1h","expires_after":"1h"}"#, "/options/delay"),
        (#"{"not_before":"2999-01-31T08:00:00Z"}"#, "/options/not_before"),
        (#"{"priority":8}"#, "/options/priority"),
        (#"{"priority":"1"}"#, "/options/priority"),
        (#"{"ordering_key":""}"#, "/options/ordering_key"),
        (#"{"ordering_key":"a\nb"}"#, "/options/ordering_key"),
        (#"{"supersede_key":7}"#, "/options/supersede_key"),
        (#"{"labels":{"":"x"}}"#, "/options/labels/"),
        (#"{"labels":{"a=b":"x"}}"#, "/options/labels/a=b"),
        (#"{"labels":["a"]}"#, "/options/labels"),
        (#"{"timeout":"0s"}"#, "/options/timeout"),
        (#"{"dellay":"1s"}"#, "/options/dellay"),
    ]

    @Test("An option of a job", arguments: options)
    func option(options: String, pointer: String) throws {
        let served = try ServedLoop()
        let job = "{\"route\":\"up\",\"mode\":\"async\",\"options\":\(options)}"
        let reply = try served.ask("POST", "/v1/jobs", ["Content-Type: application/json"], job)
        #expect(reply.status == "422", "\(reply.head) \(reply.body)")
        #expect(reply.json["code"]?.text == "invalid_job")
        let pointers = reply.json["errors"]?.elements.compactMap { $0["pointer"]?.text }
        #expect(pointers == [pointer], "\(reply.body)")
    }

    @Test(
        "A word in the wrong place, with a hint at the right one",
        arguments: [
            (#"{"route":"up","mode":"durable"}"#, "async"),
            (#"{"route":"up","idempotency_key":"k"}"#, "Idempotency-Key"),
            (#"{"route":"up","request":{"idempotency_key":"k"}}"#, "Idempotency-Key"),
            (#"{"route":"up","options":{"idempotency_key":"k"}}"#, "Idempotency-Key"),
            (#"{"route":"up","options":{"path":"k"}}"#, "/request/path"),
        ]
    )
    func misplaced(job: String, hint: String) throws {
        let reply = try ServedLoop().ask("POST", "/v1/jobs", [], job)
        let hints = reply.json["errors"]?.elements.compactMap { $0["hint"]?.text } ?? []
        #expect(hints.count == 1 && hints.allSatisfy { $0.contains(hint) }, "\(reply.body)")
        #expect(reply.json["detail"]?.text == "the job has 1 error; see errors")
    }

    @Test("An option that only a kept job has, of one that is answered at once")
    func synchronous() throws {
        let served = try ServedLoop()
        let job = #"{"route":"up","mode":"sync","options":{"delay":"1s"}}"#
        let reply = try served.ask("POST", "/v1/jobs", [], job)
        #expect(reply.status == "422" && reply.body.contains("/options/delay"), "\(reply.body)")
    }

    @Test("A job that is not to be kept, beside a field of the request that has it kept")
    func contradicted() throws {
        let served = try ServedLoop()
        let job = #"{"route":"up","mode":"sync"}"#
        let reply = try served.ask("POST", "/v1/jobs", ["Prefer: respond-async"], job)
        let error = reply.json["errors"]?.elements.first
        #expect(reply.status == "422" && error?["pointer"]?.text == "/mode", "\(reply.body)")
        #expect(error?["message"]?.text?.contains("a field of the request") == true, "\(reply.body)")
    }

    @Test(
        "The part of a target that cannot be sent",
        arguments: [
            (#"{"path":"a/../b","query":{"c":"d"}}"#, "/request/path"),
            (#"{"path":"a","query":{"c":"\u0000"}}"#, "/request/query"),
        ]
    )
    func target(request: String, pointer: String) throws {
        let reply = try ServedLoop().ask("POST", "/v1/jobs", [], "{\"route\":\"up\",\"request\":\(request)}")
        let pointers = reply.json["errors"]?.elements.compactMap { $0["pointer"]?.text }
        #expect(reply.status == "422" && pointers == [pointer], "\(reply.body)")
    }

    private static let actions: [(document: String, pointer: String)] = [
        (#"{"filter":{}}"#, "/action"),
        (#"{"action":"retry"}"#, "/filter"),
        (#"{"action":"retri","filter":{}}"#, "/action"),
        (#"{"action":"retry","filter":[]}"#, "/filter"),
        (#"{"action":"retry","filter":{"state":"dead"}}"#, "/filter/state"),
        (#"{"action":"retry","filter":{"state":[]}}"#, "/filter/state"),
        (#"{"action":"retry","filter":{"state":["dead","done"]}}"#, "/filter/state/1"),
        (#"{"action":"retry","filter":{"ids":[]}}"#, "/filter/ids"),
        (#"{"action":"retry","filter":{"ids":["x"]}}"#, "/filter/ids/0"),
        (#"{"action":"retry","filter":{"created_after":"now"}}"#, "/filter/created_after"),
        (#"{"action":"retry","filter":{"reason":"lazy"}}"#, "/filter/reason"),
        (#"{"action":"retry","filter":{"label":""}}"#, "/filter/label"),
        (#"{"action":"retry","filter":{"rute":"a"}}"#, "/filter/rute"),
        (#"{"action":"retry","filter":{},"dry_run":"no"}"#, "/dry_run"),
        (#"{"action":"retry","filter":{},"rate":"50"}"#, "/rate"),
        (#"{"action":"retry","filter":{},"rate":"0/s"}"#, "/rate"),
        (#"{"action":"cancel","filter":{},"rate":"5/s"}"#, "/rate"),
        (#"{"action":"retry","filter":{},"limit":10001}"#, "/limit"),
        (#"{"action":"retry","filter":{},"cursor":"5"}"#, "/cursor"),
    ]

    @Test("A bulk action", arguments: actions)
    func action(document: String, pointer: String) throws {
        let served = try ServedLoop(role: .operate)
        let reply = try served.ask("POST", "/v1/jobs/actions", [], document)
        #expect(reply.status == "422", "\(reply.head) \(reply.body)")
        let pointers = reply.json["errors"]?.elements.compactMap { $0["pointer"]?.text }
        #expect(pointers == [pointer], "\(reply.body)")
    }

    @Test("A bulk action on a route that there is not")
    func actionElsewhere() throws {
        let served = try ServedLoop(role: .operate)
        let action = #"{"action":"drop","filter":{"route":"upp"},"dry_run":false}"#
        let reply = try served.ask("POST", "/v1/jobs/actions", [], action)
        #expect(reply.status == "404" && reply.json["did_you_mean"]?.text == "up", "\(reply.body)")
    }

    private static let pauses = [
        "[", "[]", #"{"for":"0s"}"#, #"{"for":5}"#, #"{"reason":""}"#, #"{"reason":"a\u0007"}"#,
        #"{"until":"x"}"#,
    ]

    @Test("A pause is a bad request, as the manual says of one", arguments: pauses)
    func pause(document: String) throws {
        let served = try ServedLoop(role: .operate)
        let reply = try served.ask("POST", "/v1/routes/up/pause", [], document)
        #expect(reply.status == "400", "\(reply.head) \(reply.body)")
        #expect(reply.json["code"]?.text == "bad_request")
    }

    private static let roles: [(method: String, target: String, role: Role, status: String)] = [
        ("POST", "/v1/jobs/actions", .read, "403"),
        ("POST", "/v1/jobs/\(id)/retry", .read, "403"),
        ("POST", "/v1/jobs/\(id)/hold", .submit, "403"),
        ("DELETE", "/v1/jobs/\(id)", .read, "403"),
        ("DELETE", "/v1/jobs/\(id)/content", .read, "403"),
        ("POST", "/v1/jobs/\(id)/cancel", .submit, "404"),
        ("POST", "/v1/routes/up/pause", .read, "403"),
        ("GET", "/v1/shape", .submit, "403"),
        ("GET", "/v1/routes", .submit, "403"),
        ("GET", "/v1/troubles", .submit, "403"),
        // Over TCP nobody has a name, and so no jobs of their own.
        ("GET", "/v1/jobs", .submit, "403"),
        ("GET", "/v1/events", .submit, "403"),
        ("PUT", "/v1/jobs/\(id)", .admin, "405"),
        ("GET", "/v1/jobs/\(id)/retry", .admin, "405"),
        ("DELETE", "/v1/events", .admin, "405"),
    ]

    @Test("A call from a role that may not, or by a method that is not there", arguments: roles)
    func role(method: String, target: String, role: Role, status: String) throws {
        let served = try ServedLoop(role: role)
        let reply = try served.ask(method, target)
        #expect(reply.status == status, "\(reply.head) \(reply.body)")
    }

    @Test("Events in a form that there is none of")
    func form() throws {
        let served = try ServedLoop(role: .read)
        let reply = try served.ask("GET", "/v1/events", ["Accept: application/xml"])
        #expect(reply.status == "406", "\(reply.head)")
    }

    @Test("A document of another type", arguments: ["/v1/jobs", "/v1/jobs/actions", "/v1/routes/up/pause"])
    func type(target: String) throws {
        let served = try ServedLoop(role: .operate)
        let reply = try served.ask("POST", target, ["Content-Type: application/jsonp"], "{}")
        #expect(reply.status == "415", "\(reply.head)")
    }
}
