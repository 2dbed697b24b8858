import RelayBase
import RelayConfig
import RelayJSON
import RelayRoute
import Testing

@Suite("The promises of a route")
struct PromiseTests {
    /// SHA-256 of "one" and "two".
    private static let keys =
        #"["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=", "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="]"#

    private static let rules = ["a", "b"].map {
        #"{"name": "\#($0)", "on": ["any"], "failover": {"upstream": "\#($0)"}}"#
    }.joined(separator: ", ")

    private func policy(_ text: String) throws -> RoutePolicy {
        let result = read(text)
        #expect(Diagnostic.render(result.diagnostics) == "")
        return try #require(result.configuration?.routes.first).policy
    }

    private func pins(_ members: String, upstreams: String) throws -> PublicKeyPins {
        let text =
            #"{"routes": {"r": {"upstreams": [\#(upstreams)], "recovery": [\#(Self.rules)], "#
            + #""tls": {"pins": {"spki_sha256": \#(Self.keys)\#(members)}}}}}"#
        return try #require(policy(text).upstreams[0].tls.pins)
    }

    @Test("Files and operators may say that the network is constrained; by default nobody does")
    func constrained() throws {
        #expect(try #require(read("{}").configuration).constrained == ConstrainedSources())
        let text =
            #"{"constrained": {"when": [{"file_exists": "/run/a"}, {"control": true}, {"file_exists": "/run/b"}]}}"#
        let sources = try #require(read(text).configuration).constrained
        #expect(sources == ConstrainedSources(files: ["/run/a", "/run/b"], control: true))
        let file = try #require(read(#"{"constrained": {"when": [{"file_exists": "/x"}]}}"#).configuration)
        #expect(!file.constrained.control)
    }

    @Test("A lighter upstream and a mirror that cools down")
    func upstreams() throws {
        let upstreams = try policy(
            #"""
            {"constrained": {"when": [{"control": true}]}, "routes": {"r": {"upstreams": [
               {"name": "full", "url": "https://i.example/"},
               {"name": "light", "url": "https://i.example/low/", "use": "when_constrained"},
               {"name": "mirror", "url": "https://m.example/", "use": "failover_only", "cooldown": "30s"}],
              "recovery": [{"name": "m", "on": ["any"], "failover": {"upstream": "mirror"}}]}}}
            """#
        ).upstreams
        #expect(upstreams.map(\.use) == [.always, .whenConstrained, .failoverOnly])
        #expect(upstreams.map(\.cooldown) == [.zero, .zero, .seconds(30)])
    }

    @Test("Pins are for the host of the first https upstream unless they name another")
    func pins() throws {
        let upstreams =
            #"{"name": "s", "unix": "/run/s"}, {"name": "a", "url": "https://A.example/"}, "#
            + #"{"name": "b", "url": "https://x.b.example/"}"#
        let plain = try pins("", upstreams: upstreams)
        #expect(plain.keys.map(\.count) == [32, 32])
        #expect(plain.keys[0].starts(with: [0x76, 0x92, 0xC3, 0xAD]))
        #expect(plain.host == "a.example")
        #expect(plain.isEnforced && !plain.includesSubdomains && plain.until == nil)
        let named = try pins(
            #", "host": "B.Example", "subdomains": true, "until": "2027-06-01T00:00:00Z""#,
            upstreams: upstreams
        )
        #expect(named.host == "b.example")
        #expect(named.includesSubdomains)
        #expect(named.until == 1_811_808_000)
    }

    @Test("Pins that only report do with one key, and an address is pinned as it stands")
    func reportedPins() throws {
        let text =
            #"{"routes": {"r": {"upstreams": [{"name": "a", "url": "https://192.0.2.1/"}], "tls": {"pins": "#
            + #"{"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0="], "enforce": false}}}}}"#
        let pins = try #require(policy(text).upstreams[0].tls.pins)
        #expect(!pins.isEnforced)
        #expect(pins.host == "192.0.2.1")
    }

    @Test("A route says what a request's path and query may be, and where references lead")
    func pathsAndReferences() throws {
        let upstreams = #""upstreams": [{"name": "u", "url": "https://u.example/"}]"#
        let plain = try policy(#"{"routes": {"r": {\#(upstreams)}}}"#)
        #expect(!plain.request.allowsEmptySegments)
        #expect(plain.request.query.parameters.isEmpty)
        #expect(plain.response.locationPrefix == "/r/r/")
        let text = #"""
            {"routes": {"r": {\#(upstreams), "response": {"rewrite_location": false}, "request": {
              "allow_empty_segments": true,
              "query": {"set": {"api-version": "hunter2", "code": {"credential": "c"}}}}}}}
            """#
        let result = read(text)
        let said = try #require(result.configuration).routes[0].policy
        #expect(said.request.allowsEmptySegments)
        #expect(
            said.request.query
                == RouteQuery([("api-version", .text("hunter2")), ("code", .reference(.credential("c")))])
        )
        #expect(said.response.locationPrefix == nil)
        #expect(try #require(result.configuration).secrets.map(\.reference) == [.credential("c")])
        let shown = try #require(result.effective).text()
        #expect(
            shown.contains(#"/routes/r/request/query/set = {"api-version":"***","code":{"credential":"c"}}"#)
        )
        #expect(!shown.contains("hunter2"))
    }

    @Test("Redirects are answers unless they are to be followed")
    func redirects() throws {
        let upstreams = #""upstreams": [{"name": "u", "url": "https://u.example/"}]"#
        #expect(try policy(#"{"routes": {"r": {\#(upstreams)}}}"#).response.redirects == .return)
        let text = #"{"routes": {"r": {\#(upstreams), "response": {"redirects": "follow"}}}}"#
        #expect(try policy(text).response.redirects == .follow)
    }

    @Test(
        "A route that never fails answers with what it kept, then with a placeholder; the rule below is reached"
    )
    func neverFails() throws {
        let policy = try policy(
            #"""
            {"routes": {"r": {"upstreams": [{"name": "u", "url": "https://u.example/"}],
              "never_fails": true, "response": {"cache_last_good": {"max_age": "6h"}},
              "recovery": [
                {"name": "again", "on": ["5xx"], "retry": {}},
                {"name": "kept", "on": ["any"], "respond": {"as": "stale"}},
                {"name": "made", "on": ["404", "any"], "respond": {"as": "placeholder", "status": 200}}]}}}
            """#
        )
        #expect(policy.neverFails)
        #expect(policy.response.keepsLastGood == LastGoodRule(maxAge: .seconds(21_600)))
        guard case .respondStale = policy.recovery[1].action, case .respond = policy.recovery[2].action else {
            Issue.record("other actions")
            return
        }
    }

    @Test("The last line of defence may be that of the defaults")
    func inherited() throws {
        let text =
            #"{"defaults": {"recovery": [{"name": "f", "on": ["any"], "respond": {"as": "fallback", "status": 503}}]}, "#
            + #""routes": {"r": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "never_fails": true}}}"#
        #expect(try policy(text).neverFails)
    }

    @Test("The effective configuration shows all of it, so that a reload sees what changed")
    func effective() throws {
        let result = read(
            #"""
            {"routes": {"r": {"upstreams": [{"name": "a", "url": "https://a.example/"}],
              "tls": {"pins": {"spki_sha256": \#(Self.keys), "until": "2027-06-01T00:00:00Z"}}}}}
            """#
        )
        let entries = try #require(result.effective).entries
        let values = { (pointer: String) in
            entries.filter { $0.pointer == "/routes/r\(pointer)" }.map { "\($0.value) \($0.origin)" }
        }
        #expect(values("/never_fails") == ["false default"])
        #expect(values("/response/redirects") == [#""return" default"#])
        #expect(values("/upstreams/0/cooldown") == [#""0s" default"#])
        #expect(values("/tls/pins/enforce") == ["true default"])
        #expect(values("/tls/pins/until") == [#""2027-06-01T00:00:00Z" t.json:2"#])
        #expect(values("/tls/pins/spki_sha256").count == 1)
    }
}
