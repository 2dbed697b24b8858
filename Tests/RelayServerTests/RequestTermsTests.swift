import RelayCore
import RelayEngine
import RelayServer
import RelayTestSupport
import Testing

@Suite("What a request's fields say to the relay")
struct RequestTermsTests {
    private func make(_ pairs: [(String, String)]) -> HeaderFields {
        var fields = HeaderFields()
        for (name, value) in pairs { fields.append(name, value) }
        return fields
    }

    @Test("The relay's own fields are read and taken away, the others go on untouched")
    func fields() throws {
        let sorted = try RequestTerms(
            make([
                ("Host", "relay"), ("X-One", "1"), ("Waystation-Timeout", "2s"), ("Content-Length", "5"),
                ("Waystation-Attempt-Timeout", "500ms"), ("waystation-max-attempts", "2"), ("X-one", "2"),
                ("Waystation-Fallback", "off"), ("Prefer", "wait=5"), ("Expect", "100-continue"),
                ("Via", "1.1 other"),
            ])
        )
        #expect(sorted.options.timeout == .seconds(2) && sorted.options.attemptTimeout == .milliseconds(500))
        #expect(sorted.options.maxAttempts == 2 && !sorted.options.allowsFallback && !sorted.wantsDurable)
        #expect(
            sorted.forwarded.pairs.map { "\($0.name)=\($0.value)" } == [
                "X-One=1", "X-one=2", "Via=1.1 other",
            ]
        )
    }

    @Test(
        "Only this relay's own name in Via is a loop",
        arguments: [
            ("1.1 waystationd", true), ("1.0 other, 1.1 waystationd (0.1)", true),
            ("HTTP/1.1\twaystationd", true),
            ("1.1 my-waystationd-proxy", false), ("1.1 other (waystationd)", false), ("waystationd", false),
            ("", false),
        ]
    )
    func loops(via: String, isLoop: Bool) throws {
        #expect(try RequestTerms(make([("Via", via)])).isLoop == isLoop)
    }

    @Test("A label is kept with the job, and does not ask for durable keeping")
    func labels() throws {
        let sorted = try RequestTerms(make([("Waystation-Label", "order=1"), ("Waystation-Label", "b=2")]))
        #expect(sorted.options.labels == ["order=1", "b=2"] && !sorted.wantsDurable)
        #expect(throws: Problem.self) { try RequestTerms(make([("Waystation-Label", "nothing")])) }
    }
}
