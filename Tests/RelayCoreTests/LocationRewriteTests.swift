import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

/// A route as the daemon has it, with the upstreams `https://one.example/api/` and `https://two.example/`.
private func daemonRoute(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
    makeRoute {
        $0.response.locationPrefix = "/r/test/"
        change(&$0)
    }
}

@Suite("References in answers", .timeLimit(.minutes(5)))
struct LocationRewriteTests {
    /// The values that the caller gets for one field of an answer to `GET x?q=1`, which was sent to `/api/x?q=1`.
    private func given(
        _ values: [String],
        named name: String = "Location",
        status: UInt16 = 302,
        on route: Route = daemonRoute()
    ) async throws -> [String] {
        let bench = Bench([.answer(Status(rawValue: status), values.map { (name, $0) })])
        let outcome = await bench.perform(.get, "x?q=1", on: route)
        let key = try #require(FieldName(name))
        return try #require(outcome.answer).fields.values(key)
    }

    @Test(
        "A reference below the route's base leads through the relay, however it is written",
        arguments: [
            ("https://one.example/api/z?p#top", "/r/test/z?p#top"),
            ("HTTPS://One.Example:443/api/z", "/r/test/z"),
            ("//one.example/api/z", "/r/test/z"), ("/api/z", "/r/test/z"), ("/api/", "/r/test/"),
            ("/api/?p", "/r/test/?p"), ("z", "/r/test/z"), ("z/../y", "/r/test/y"), ("./", "/r/test/"),
            ("?p=2", "/r/test/x?p=2"), ("", "/r/test/x?q=1"), ("#top", "/r/test/x?q=1#top"),
            ("../api/z", "/r/test/z"), ("/api/a%2Fb/c", "/r/test/a%2Fb/c"), ("/api/a//b", "/r/test/a//b"),
            ("/api/caf%C3%A9", "/r/test/caf%C3%A9"), ("/go/../api/z", "/r/test/z"),
            ("https://two.example/z", "/r/test/z"), ("https://two.example", "/r/test/"),
            ("/api/z?to=https://three.example/", "/r/test/z?to=https://three.example/"),
        ]
    )
    func below(reference: String, expected: String) async throws {
        #expect(try await given([reference]) == [expected])
        #expect(try await given([reference], status: 201) == [expected])
        #expect(try await given([reference], status: 503) == [expected])
        #expect(try await given([reference], named: "Content-Location", status: 200) == [expected])
        #expect(
            try await given(["5; url=\(reference)"], named: "Refresh", status: 200) == ["5; url=\(expected)"]
                || reference.isEmpty
        )
    }

    @Test(
        "A reference that leads elsewhere is left as it is",
        arguments: [
            "https://three.example/api/z", "http://one.example/api/z", "https://one.example:444/api/z",
            "https://user@one.example/api/z", "https://one.example.three.example/api/z",
            "//three.example/api/z",
            "https://one.example/other", "/other", "/api", "/apiary/z", "/API/z", "/api/../other", "/", "///",
            "/api/%2e%2e/other", "mailto:a@one.example", "data:,x", "javascript:alert(1)", "/api/a b",
            "/api/\u{E9}", #"/api/a\b"#, "https://one.example\\@three.example/api/",
            "/api/" + String(repeating: "a", count: 8192),
        ]
    )
    func elsewhere(reference: String) async throws {
        #expect(try await given([reference]) == [reference])
    }

    @Test(
        "A reference that a client would take for another path of the relay says whose it is",
        arguments: [
            ("/r/other/z", "https://one.example/r/other/z"), ("/v1/jobs", "https://one.example/v1/jobs"),
            ("../z", "https://one.example/z"), ("../../r/other", "https://one.example/r/other"),
            ("../r/other#top", "https://one.example/r/other#top"),
        ]
    )
    func misread(reference: String, expected: String) async throws {
        #expect(try await given([reference]) == [expected])
    }

    @Test(
        "Refresh keeps its time and its way of writing",
        arguments: [
            ("0;url=/api/z", "0;url=/r/test/z"), ("5; URL='/api/z'", "5; URL='/r/test/z'"),
            ("5 , url = \"z\" ", "5 , url = \"/r/test/z\" "), ("1; z", "1; /r/test/z"), ("5", "5"),
            ("5;", "5;"),
            ("5; url=https://three.example/", "5; url=https://three.example/"),
        ]
    )
    func refresh(value: String, expected: String) async throws {
        #expect(try await given([value], named: "Refresh", status: 200) == [expected])
    }

    @Test("Two of a field mean nothing, and are left as they are")
    func twice() async throws {
        #expect(try await given(["/api/y", "/api/z"]) == ["/api/y", "/api/z"])
    }

    @Test("A route that says so, and a program, get references as they came")
    func off() async throws {
        #expect(try await given(["/api/z"], on: makeRoute()) == ["/api/z"])
    }

    @Test("A reference is read against what was sent after the redirects that were followed")
    func followed() async throws {
        let bench = Bench([
            .answer(302, [("Location", "/api/deep/er/y")]), .answer(201, [("Location", "z")]),
        ])
        let outcome = await bench.perform(.get, "x", on: daemonRoute { $0.response.redirects = .follow })
        let response = try #require(outcome.accepted)
        #expect(response.fields[.location] == "/r/test/deep/er/z")
    }

    @Test("Behind a Unix socket the upstream's own name is localhost")
    func unix() async throws {
        let route = daemonRoute { $0.upstreams = [Upstream(name: "one", origin: .unix(path: "/run/u"))] }
        #expect(try await given(["http://localhost/z"], on: route) == ["/r/test/z"])
        #expect(try await given(["/z"], on: route) == ["/r/test/z"])
        #expect(try await given(["http://localhost:81/z"], on: route) == ["http://localhost:81/z"])
    }

    @Test("A kept job's answer is kept with references that lead through the relay")
    func kept() async throws {
        let good = Bench([.answer(201, [("Location", "/api/z")])])
        let delivered = await good.deliver(on: daemonRoute())
        let response = try #require(delivered.answer)
        #expect(delivered.ending == .succeeded)
        #expect(response.fields[.location] == "/r/test/z")
        let bad = Bench([.answer(400, [("Location", "/api/z")])])
        #expect(await bad.deliver(on: daemonRoute()).answer?.fields[.location] == "/r/test/z")
    }
}

@Suite("A route's own query parameters", .timeLimit(.minutes(5)))
struct RouteQueryTests {
    private func sent(_ target: String, _ query: RouteQuery) async throws -> String {
        let bench = Bench([.answer(200)])
        _ = await bench.perform(.get, target, on: daemonRoute { $0.request.query = query })
        return try #require(bench.transport.sent.first).target
    }

    private static let key = RouteQuery([("key", .secret(Secret("s3 &cr%t")))])

    @Test(
        "They join the caller's, and take the place of those of the same name",
        arguments: [
            ("x", "/api/x?key=s3%20%26cr%25t"), ("x?", "/api/x?key=s3%20%26cr%25t"),
            ("", "/api/?key=s3%20%26cr%25t"),
            ("x?a=1&b=%2F", "/api/x?a=1&b=%2F&key=s3%20%26cr%25t"),
            ("x?key=mine", "/api/x?key=s3%20%26cr%25t"),
            ("x?a&key=1&k%65y=2&key&b=key", "/api/x?a&b=key&key=s3%20%26cr%25t"),
            ("x?Key=1&keys=2", "/api/x?Key=1&keys=2&key=s3%20%26cr%25t"),
            ("x?a=1&&b=2", "/api/x?a=1&&b=2&key=s3%20%26cr%25t"),
            ("x?%zz&a=?", "/api/x?%zz&a=?&key=s3%20%26cr%25t"),
        ]
    )
    func merged(target: String, expected: String) async throws {
        #expect(try await sent(target, Self.key) == expected)
    }

    @Test("Names and values are encoded, and stand in the order of the configuration")
    func encoded() async throws {
        let query = RouteQuery([("api version", .text("2026-01-01+é")), ("$x[]", .text(""))])
        #expect(
            try await sent("x?api+version=1&a=1", query)
                == "/api/x?a=1&api%20version=2026-01-01%2B%C3%A9&%24x%5B%5D="
        )
    }

    @Test("A secret that was not read fails the attempt, with zero sends")
    func unread() async throws {
        let query = RouteQuery([("key", .reference(.credential("k")))])
        let bench = Bench([])
        let outcome = await bench.perform(.get, "x", on: daemonRoute { $0.request.query = query })
        let failure = try #require(outcome.failure)
        #expect(outcome.answer == nil && failure.kind == .credentialsFailed && failure.sent == .neverSent)
        #expect(failure.detail.contains("credential \"k\""))
        #expect(
            query.resolved([.credential("k"): Secret("v")]) == RouteQuery([("key", .secret(Secret("v")))])
        )
    }

    @Test("A reference that repeats them reaches the caller without them")
    func echoed() async throws {
        let bench = Bench([.answer(201, [("Location", "/api/next?key=s3&page=2")])])
        let outcome = await bench.perform(.get, "x", on: daemonRoute { $0.request.query = Self.key })
        let response = try #require(outcome.accepted)
        #expect(response.fields[.location] == "/r/test/next?page=2")
    }

    @Test(
        "A secret among them is taken out of a reference in whichever spelling, and nothing else is",
        arguments: [
            ("/api/y?a=s3%20%26cr%25t&b=1", "/r/test/y?a=&b=1"),
            ("/api/y?a=1;key=s3+%26cr%25t;b=2", "/r/test/y?a=1;key=;b=2"),
            ("/api/y%3Fkey%3Ds3%20%26cr%25t", "/r/test/y%3Fkey%3D"),
            ("/api/y?next=%2Fz%3Fkey%3Ds3%2520%2526cr%2525t%26c=1", "/r/test/y?next=%2Fz%3Fkey%3D%26c=1"),
            ("/api/%73%33%20%26%63%72%25%74/y", "/r/test//y"),
            ("https://else.example/y?u=s3%20%26cr%25t#s3%20%26cr%25t", "https://else.example/y?u=#"),
            ("/api/y?a=s3%20%26cr%25u", "/r/test/y?a=s3%20%26cr%25u"),
            ("/api/y?a=%zz%", "/r/test/y?a=%zz%"),
        ]
    )
    func secrets(reference: String, expected: String) async throws {
        let bench = Bench([.answer(201, [("Location", reference)])])
        let outcome = await bench.perform(.get, "x", on: daemonRoute { $0.request.query = Self.key })
        let response = try #require(outcome.accepted)
        #expect(response.fields[.location] == expected)
    }

    @Test("A redirect that is followed gets them too")
    func followed() async throws {
        let bench = Bench([.answer(302, [("Location", "/api/y?key=old")]), .answer(200)])
        let route = daemonRoute {
            $0.request.query = Self.key
            $0.response.redirects = .follow
        }
        _ = await bench.perform(.get, "x", on: route)
        #expect(bench.transport.sent.map(\.target).last == "/api/y?key=s3%20%26cr%25t")
    }
}
