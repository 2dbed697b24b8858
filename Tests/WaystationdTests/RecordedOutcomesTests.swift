import RelayBase
import RelayConfig
import RelayJSON
import RelayTestSupport
import Testing

@testable import waystationd

@Suite("Outcomes on record")
struct RecordedOutcomesTests {
    private static func word(_ found: RecordedOutcomes.Found) -> String {
        switch found.answer {
        case .known(let imagined): imagined.word
        case .unknown(let gap): gap.rawValue
        }
    }

    private static func outcomes(_ text: String) throws -> RecordedOutcomes? {
        RecordedOutcomes(try JSONValue(parsing: Array(text.utf8)))
    }

    @Test("are known within ten seconds of one with none between that ended otherwise")
    func find() throws {
        let text = """
            {"eu":[[60000,"ok",0],[1000,"503",5],[2000,"503",700],[3000,"connection_refused",0,"never_sent"],
             [9000,"ok",20]]}
            """
        var outcomes = try #require(try Self.outcomes(text))
        let table: [(Int64, String)] = [
            (-9_001, "before_record"), (-9_000, "503"), (1_000, "503"), (1_500, "503"), (2_050, "503"),
            (2_950, "503"), (3_000, "connection_refused"), (8_999, "connection_refused"), (9_000, "ok"),
            (19_020, "ok"), (19_021, "apart"), (49_999, "apart"), (50_000, "ok"), (70_000, "ok"),
            (70_001, "after_record"),
        ]
        for (moment, expected) in table {
            #expect(Self.word(outcomes.find("eu", at: moment)) == expected, "\(moment)")
        }
        #expect(Self.word(outcomes.find("us", at: 1_000)) == "no_record")
        #expect(outcomes.find("eu", at: 2_500).isUnlike && !outcomes.find("eu", at: 1_500).isUnlike)
        outcomes.takesLater = true
        #expect(Self.word(outcomes.find("eu", at: 2_500)) == "connection_refused")
        #expect(Self.word(outcomes.find("eu", at: 8_999)) == "ok")
    }

    @Test("are the job's own before those of others, and not known where contents count")
    func own() throws {
        var outcomes = try #require(
            try Self.outcomes(#"{"eu":[[1000,"503",0],[1000,"ok",0],[5000,"?"],[9000,"ok",0]]}"#)
        )
        outcomes.own = try #require(try Self.outcomes(#"{"eu":[[1000,"503",0],[2000,"503",0]]}"#)).points
        let table: [(Int64, String)] = [
            (1_000, "503"), (1_050, "503"), (1_500, "503"), (2_000, "503"), (5_050, "content"),
            (3_000, "content"), (7_000, "content"), (9_000, "ok"),
        ]
        for (moment, expected) in table {
            #expect(Self.word(outcomes.find("eu", at: moment)) == expected, "\(moment)")
        }
    }

    @Test(
        "are refused where they say nothing",
        arguments: [
            "[]", #"{"eu":1}"#, #"{"eu":[1]}"#, #"{"eu":[[1,"ok"]]}"#, #"{"eu":[["1","ok",0]]}"#,
            #"{"eu":[[1,"connection_refused",0]]}"#, #"{"eu":[[1,"connection_refused",0,"perhaps"]]}"#,
        ]
    )
    func faults(text: String) throws { #expect(try Self.outcomes(text) == nil) }
}

@Suite("A rehearsal", .timeLimit(.minutes(1)))
struct RehearsalTests {
    private static let jitterless = #""constant","base_interval":"10s","jitter":"none""#

    private static func file(_ backoff: String, _ more: String) -> String {
        """
        {"listeners":[{"name":"jobs","unix":"/run/a/jobs.sock","role":"submit"}],
         "routes":{"orders":{"upstreams":[{"name":"eu","url":"https://eu.example/"},
          {"name":"us","url":"https://us.example/","use":"failover_only"}],
          "delivery":{"mode":"durable","expires_after":"1h"},
          "recovery":[{"name":"again","on":["503","timeout"],"retry":{"max_attempts":4,"methods":"any",
           "backoff":{"type":\(backoff)}}},
           {"name":"away","on":["connection"],"failover":{"upstream":"us"}}]\(more)}}}
        """
    }

    private static func rehearsal(
        backoff: String = jitterless,
        more: String = ""
    ) throws -> Rehearsal {
        let result = ConfigurationReader.read(
            Array(file(backoff, more).utf8),
            file: "it",
            accounts: AccountResolver(user: { _ in 1 }, group: { _ in 1 }, zoneFile: { _ in nil }),
            wallSeconds: 0
        )
        return Rehearsal(try #require(result.configuration))
    }

    private static let begins = 1_800_000_000_000

    /// The answer to a job that began with the first of the points, which are `[SECONDS, WORD, …]`.
    private static func courses(
        _ points: String,
        own: String = "",
        members: String = "",
        _ other: Rehearsal? = nil
    ) throws -> [JSONValue] {
        var rehearsal = try other ?? Self.rehearsal()
        let head = #"{"route":"orders","points":{"eu":\#(points)}}"#
        let taken = rehearsal.take(Array(head.utf8))
        #expect(taken == [])
        let more = own.isEmpty ? "" : #","own":{"eu":\#(own)}"#
        let trial =
            #"{"route":"orders","begins":\#(begins),"method":"POST","durable":true\#(more)\#(members)}"#
        let told = rehearsal.take(Array(trial.utf8))
        let answer = try #require(told)
        guard case .array(let courses)? = try JSONValue(parsing: answer)["courses"] else { return [] }
        return courses
    }

    private static func point(_ seconds: Int, _ rest: String) -> String {
        "[\(begins + seconds * 1_000),\(rest)]"
    }

    private static func list(_ points: String...) -> String { "[\(points.joined(separator: ","))]" }

    @Test("delivers where the record tells that the upstream is back")
    func delivered() throws {
        let courses = try Self.courses(
            Self.list(
                Self.point(0, #""503",20"#),
                Self.point(12, #""503",20"#),
                Self.point(18, #""ok",500"#),
                Self.point(90, #""ok",500"#)
            )
        )
        #expect(courses.count == 1)
        for course in courses {
            #expect(course["state"] == .string("succeeded") && course["unknown"] == nil, "\(course)")
            #expect(course["attempts"] == .number(JSONNumber(3)), "\(course)")
            #expect(course["rules"] == .array([.string("again"), .string("again")]))
            // Twenty seconds of waits, and the time that the answers took.
            guard case .number(let length)? = course["length_ms"] else { return }
            #expect(length.double ?? 0 >= 20_500 && length.double ?? 0 < 20_700, "\(length)")
        }
    }

    @Test("ends where the record does, and tries each of two unlike failures")
    func unknown() throws {
        let after = try Self.courses(Self.list(Self.point(0, #""503",0"#), Self.point(5, #""503",0"#)))
        #expect(after.allSatisfy { $0["unknown"]?["why"] == .string("after_record") })
        let unlike = try Self.courses(
            Self.list(Self.point(0, #""503",0"#), Self.point(8, #""503",0"#), Self.point(12, #""500",0"#))
        )
        #expect(unlike.count == 2)
        let attempts = unlike.map { $0["attempts"] }
        #expect(unlike.allSatisfy { $0["state"] == .string("dead") }, "\(unlike)")
        #expect(attempts[0] == .number(JSONNumber(3)) && attempts[1] == .number(JSONNumber(2)), "\(attempts)")
        let elsewhere = try Self.courses(Self.list(Self.point(0, #""connection_refused",0,"never_sent""#)))
        #expect(elsewhere.allSatisfy { $0["unknown"]?["why"] == .string("no_record") }, "\(elsewhere)")
        #expect(elsewhere.allSatisfy { $0["unknown"]?["upstream"] == .string("us") })
    }

    @Test("takes what a job met itself before what others did")
    func own() throws {
        let shared = Self.list(Self.point(-5, #""ok",0"#), Self.point(60, #""ok",0"#))
        #expect(try Self.courses(shared).allSatisfy { $0["state"] == .string("succeeded") })
        let own = try Self.courses(shared, own: Self.list(Self.point(0, #""422",0"#)))
        #expect(own.allSatisfy { $0["state"] == .string("dead") }, "\(own)")
    }

    @Test("meets nothing that others met at an upstream where it is alone")
    func alone() throws {
        let shared = Self.list(Self.point(5, #""ok",0"#), Self.point(60, #""ok",0"#))
        let own = Self.list(Self.point(0, #""503",0"#))
        let others = try Self.courses(shared, own: own)
        #expect(others.allSatisfy { $0["state"] == .string("succeeded") }, "\(others)")
        let alone = try Self.courses(shared, own: own, members: #","alone":["eu"]"#)
        #expect(alone.allSatisfy { $0["unknown"]?["why"] == .string("after_record") }, "\(alone)")
    }

    @Test("keeps the bounds of its caller, and expires since its acceptance")
    func bounds() throws {
        let points = Self.list(
            Self.point(0, #""503",0"#),
            Self.point(28, #""503",0"#),
            Self.point(29, #""ok",0"#),
            Self.point(99, #""ok",0"#)
        )
        func ends(_ members: String) throws -> [JSONValue?] {
            try Self.courses(points, members: members).map { $0["end"] ?? $0["state"] }
        }
        #expect(try ends("").allSatisfy { $0 == .string("succeeded") })
        #expect(try ends(#","max_attempts":2"#).allSatisfy { $0 == .string("exhausted") })
        let early = Self.begins - 3_600_000 + 5_000
        // A wait of ten seconds would be over too late.
        let table = [#","accepted":\#(early)"#: 1, #","expires":\#(Self.begins + 15_000)"#: 2]
        for (members, attempts) in table {
            let found = try Self.courses(points, members: members)
            #expect(
                found.allSatisfy {
                    $0["state"] == .string("dead") && $0["attempts"] == .number(JSONNumber(attempts))
                },
                "\(found)"
            )
        }
    }

    @Test("takes more samples where chance makes a difference")
    func chance() throws {
        let points = Self.list(
            Self.point(0, #""503",0"#),
            Self.point(1, #""ok",0"#),
            Self.point(99, #""ok",0"#)
        )
        let jitter = try Self.rehearsal(backoff: #""constant","base_interval":"10s","jitter":"full""#)
        let own = Self.list(Self.point(0, #""503",0"#))
        let courses = try Self.courses(points, own: own, jitter)
        let lengths = courses.compactMap { course -> Double? in
            guard case .number(let length)? = course["length_ms"] else { return nil }
            return length.double
        }
        // The extremes of chance are not among them.
        #expect(lengths.allSatisfy { $0 > 10 && $0 < 39_990 } && Set(lengths).count >= 4, "\(lengths)")
        #expect(lengths.min() ?? 0 < 3_000 && lengths.max() ?? 0 > 8_000, "\(lengths)")
        #expect(try Self.courses(points, own: own).count == 1)
    }

    @Test("waits through planned windows, whose moments are real ones")
    func closed() throws {
        let window = #","closed":[{"days":["friday"],"from":"07:59","to":"08:02","zone":"UTC"}]"#
        let points = Self.list(
            Self.point(0, #""503",0"#),
            Self.point(115, #""ok",0"#),
            Self.point(130, #""ok",0"#)
        )
        let courses = try Self.courses(points, try Self.rehearsal(more: window))
        for course in courses {
            guard case .number(let length)? = course["length_ms"] else { continue }
            #expect(course["state"] == .string("succeeded") && length.double ?? 0 >= 120_000, "\(course)")
            #expect(course["attempts"] == .number(JSONNumber(1)))
        }
    }

    @Test(
        "refuses a line that says nothing",
        arguments: [
            "", "{", "[]", #"{"route":"none","points":{}}"#, #"{"route":"orders","points":[]}"#,
            #"{"route":"orders"}"#, #"{"route":"orders","begins":1}"#,
            #"{"route":"orders","begins":"1","method":"GET"}"#,
        ]
    )
    func faults(line: String) throws {
        var rehearsal = try Self.rehearsal()
        let taken = rehearsal.take(Array(line.utf8))
        #expect(taken == nil)
    }
}
