import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayServer
import RelayTestSupport
import Testing

@Suite("The terms that a request's fields set for the relay")
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

    private static let units = "must be a duration with a unit, such as"

    @Test(
        "A malformed field is refused in words that name it and the value that belongs there",
        arguments: [
            (
                ["waystation-TIMEOUT": "0s"],
                "waystation-timeout \(units) 250ms, 20s or 1h30m, from 1ms to 365d"
            ),
            (
                ["Waystation-Attempt-Timeout": "1"],
                "waystation-attempt-timeout \(units) 250ms, 20s or 1h30m, from 1ms to 365d"
            ),
            (
                ["Waystation-Max-Attempts": "101"],
                "waystation-max-attempts must be a whole number from 1 to 100"
            ),
            (["Waystation-Fallback": "Off"], "waystation-fallback must be on or off"),
            (["Waystation-Delay": "366d"], "waystation-delay \(units) 250ms, 20s or 1h30m, from 0s to 365d"),
            (["Waystation-Delay": "1h1h"], "waystation-delay \(units) 250ms, 20s or 1h30m, from 0s to 365d"),
            (["Waystation-Delay": "1ms1s"], "waystation-delay \(units) 250ms, 20s or 1h30m, from 0s to 365d"),
            (
                ["Waystation-Delay": "1234567890123s"],
                "waystation-delay \(units) 250ms, 20s or 1h30m, from 0s to 365d"
            ),
            (["Waystation-Delay": "s"], "waystation-delay \(units) 250ms, 20s or 1h30m, from 0s to 365d"),
            (
                ["Waystation-Expires-After": "999ms"],
                "waystation-expires-after \(units) 250ms, 20s or 1h30m, from 1s to 365d"
            ),
            (
                ["Waystation-Not-Before": "soon"],
                "waystation-not-before must be a date and time of RFC 3339, such as 2027-01-31T08:00:00Z"
            ),
            (
                ["Waystation-Delay": "1s", "Waystation-Not-Before": "2027-01-31T08:00:00Z"],
                "waystation-delay and waystation-not-before exclude each other"
            ),
            (
                ["Waystation-Ordering-Key": ""],
                "waystation-ordering-key must have 1 to 256 bytes, no control characters, and no blanks around it"
            ),
            (
                ["Waystation-Supersede-Key": ""],
                "waystation-supersede-key must have 1 to 256 bytes, no control characters, and no blanks around it"
            ),
            (
                ["Waystation-Label": "x"],
                "waystation-label must be name=value without control characters, at most 256 bytes, at most 16 times"
            ),
            (
                ["Waystation-Delay": "1s", "waystation-delay": "x"],
                "waystation-delay may stand once, and stands twice"
            ),
            (["Priority": "u=8"], "the urgency (u) of priority must be a whole number from 0 to 7"),
            (
                ["Idempotency-Key": "a b"],
                "Idempotency-Key must be a string in quotes of 1 to 256 visible characters"
            ),
            (
                ["Idempotency-Key": "a", "idempotency-key": "b"],
                "Idempotency-Key may stand once, and stands twice"
            ),
            (
                ["Waystation-Delays": "1s"],
                "there is no field waystation-delays; the relay reads \(RelayFields.known.joined(separator: ", "))"
            ),
            (
                ["Waystation-Delay": "x", "Waystation-Nothing": "1"],
                "waystation-delay \(units) 250ms, 20s or 1h30m, from 0s to 365d"
            ),
        ] as [(KeyValuePairs<String, String>, String)]
    )
    func problems(fields: KeyValuePairs<String, String>, detail: String) throws {
        let problem = #expect(throws: Problem.self) {
            try RequestTerms(make(fields.map { ($0.key, $0.value) }))
        }
        #expect(problem?.code == .badHeader && problem?.detail == detail)
    }

    @Test("An unknown field of the relay's is answered with the nearest one there is")
    func nearest() throws {
        let problem = #expect(throws: Problem.self) {
            try RequestTerms(make([("waystation-time-out", "1s")]))
        }
        #expect(problem?.didYouMean == "waystation-timeout")
    }
}
