import Glibc
import RelayBase
import RelayConfig
import RelayInterface
import RelayJSON
import RelayRoute
import Testing

@testable import waystation

@Suite("A rehearsed job")
struct RehearsedJobTests {
    /// A job with attempts of `[SECOND, MEMBERS]`.
    private static func job(_ id: String, _ attempts: [(Int, String)], _ more: String = "") -> String {
        let list = attempts.map { second, members in
            let at = WallTime(milliseconds: 1_795_234_620_000 + Int64(second) * 1_000)
            return """
                {"number":1,"upstream":"eu","started_at":"\(at)","spent":true,\(members)}
                """
        }
        let rest = more.isEmpty ? #","state":"dead""# : more
        return """
            {"id":"\(id)","route":"orders","created_at":"2026-11-21T04:17:00Z","durable":true,\
            "attempts":[\(list.joined(separator: ","))]\(rest)}
            """
    }

    private static let failed =
        #""result":"failure","kind":"http_status","status":503,"cause":"upstream","sent":"answered""#
    private static let refused =
        #""result":"failure","kind":"connection_refused","cause":"upstream","sent":"never_sent""#
    private static let disliked =
        #""result":"failure","kind":"http_status","status":500,"cause":"request","sent":"answered""#
    private static let good = #""result":"success","status":200"#

    /// Takes jobs through a file with more members of its route; each trial gets the answer, and is shown.
    private static func rehearsal(
        _ jobs: [String],
        _ members: String = "",
        answer: String =
            #"{"courses":[{"attempts":1,"length_ms":1,"state":"dead","rules":[],"held_back":[]}]}"#,
        _ seen: ([JSONValue]) -> Void = { _ in }
    ) throws -> Rehearsal {
        let file = """
            {"listeners":[{"name":"jobs","unix":"/run/a/jobs.sock","role":"submit"}],
             "routes":{"orders":{"upstreams":[{"name":"eu","url":"https://eu.example/"}]\(members)\(
                members.contains("circuit_breaker") ? "" : unbounded)}}}
            """
        return try CommandTests.rehearsal(of: jobs, with: file) { lines in
            let order = lines.split(separator: UInt8(ascii: "\n")).compactMap {
                try? JSONValue(parsing: Array($0))
            }
            seen(order)
            return [String](repeating: answer, count: order.count - 1).joined(separator: "\n")
        }
    }

    private static let after =
        #"{"courses":[{"attempts":2,"length_ms":1,"unknown":{"why":"after_record","upstream":"eu"}}]}"#

    @Test("meets what itself met alone where its failures may be about its own request")
    func alone() throws {
        let other = Self.job("2", [(5, Self.good)], #","state":"succeeded""#)
        let table: [([(Int, String)], Bool)] = [
            ([(0, Self.failed), (10, Self.failed)], true), ([(0, Self.failed), (4, Self.failed)], false),
            ([(6, Self.failed), (10, Self.failed)], false), ([(0, Self.refused), (10, Self.refused)], false),
            ([(0, Self.disliked)], true), ([(0, Self.failed)], false),
        ]
        for (attempts, isAlone) in table {
            var order: [JSONValue] = []
            let rehearsal = try Self.rehearsal([Self.job("1", attempts), other], answer: Self.after) {
                order = $0
            }
            #expect(order.count == 2 && (order[1]["alone"] != nil) == isAlone, "\(attempts)")
            // Where it failed over to, others tell of it as ever.
            let elsewhere = try Self.rehearsal(
                [Self.job("1", attempts), other],
                answer: #"{"courses":[{"unknown":{"why":"after_record","upstream":"us"}}]}"#
            )
            #expect(RehearsalFigures(elsewhere.jobs).unknown[.afterRecord] == 1)
            #expect(order[1]["own"]?["eu"]?.elements.count == attempts.count)
            let figures = RehearsalFigures(rehearsal.jobs)
            #expect(figures.unknown[isAlone ? .ownFailure : .afterRecord] == 1, "\(attempts)")
            // The other was not lost: it is evidence and nothing else.
            #expect(
                figures.jobs == 1 && rehearsal.assumptions.contains { $0.hasPrefix("1 job that matches") }
            )
        }
    }

    @Test(
        "meets an outage that three jobs in a row told of by a 500, and not what two of them did",
        arguments: [2, 3]
    )
    func outage(count: Int) throws {
        let other = Self.job("9", [(20, Self.good)], #","state":"succeeded""#)
        let jobs = (0..<count).map { Self.job(String($0), [($0, Self.disliked), ($0 + 5, Self.disliked)]) }
        var order: [JSONValue] = []
        let rehearsal = try Self.rehearsal(jobs + [other], answer: Self.after) { order = $0 }
        let isOutage = count >= RecordedAttempts.jobsOfOutage
        #expect(order.dropFirst().allSatisfy { ($0["alone"] == nil) == isOutage })
        let words = order.first?["points"]?["eu"]?.elements.map { $0.elements[1].text }
        #expect(words?.count { $0 == "500" } == (isOutage ? 2 * count : 0))
        #expect(rehearsal.assumptions.contains { $0.hasPrefix("A 5xx") } == isOutage)
        // One that failed in the same way when others were delivered may be at fault itself.
        let own = Self.job("7", [(1, Self.disliked), (25, Self.disliked)])
        _ = try Self.rehearsal(jobs + [other, own], answer: Self.after) { order = $0 }
        #expect(order.last?["alone"] != nil)
    }

    @Test("keeps the bounds of its caller, where others of the route have another one")
    func bounds() throws {
        func more(_ expires: String, _ most: Int) -> String {
            #","state":"dead","expires_at":"2026-11-21T0\#(expires):00Z","max_attempts":\#(most)"#
        }
        let jobs = [("5:17", 9), ("5:17", 9), ("4:27", 9), ("5:17", 2)].enumerated().map { index, bound in
            Self.job(String(index), [(0, Self.failed)], more(bound.0, bound.1))
        }
        var order: [JSONValue] = []
        _ = try Self.rehearsal(jobs) { order = $0 }
        let trials = order.dropFirst()
        #expect(trials.map { $0["expires"]?.integer } == [nil, nil, 1_795_235_220_000, nil])
        #expect(trials.map { $0["max_attempts"]?.integer } == [nil, nil, nil, 2])
        #expect(trials.allSatisfy { $0["accepted"]?.integer == 1_795_234_620_000 })
        // Nobody knows whether it is the route's bound that most of them have.
        let delivered =
            #"{"courses":[{"attempts":12,"length_ms":1,"state":"succeeded","rules":[],"held_back":[]}]}"#
        let doubtful = RehearsalFigures(try Self.rehearsal(jobs, answer: delivered).jobs)
        #expect(doubtful.unknown == [.bound: 3] && doubtful.delivered == 1)
        let alike = RehearsalFigures(try Self.rehearsal(Array(jobs.prefix(2)), answer: delivered).jobs)
        #expect(alike.unknown.isEmpty && alike.delivered == 2)
        let late = Self.job(
            "1",
            [(0, Self.failed)],
            #","state":"dead","last_failure":{"kind":"a","past_deadline":true}"#
        )
        #expect(RehearsalFigures(try Self.rehearsal([late]).jobs).unknown[.deadline] == 1)
    }

    @Test(
        "takes no status for a success where the file looks at more",
        arguments: [
            #","success":{"require":[{"json":"/ok","exists":true}]}"#,
            #","api_error":{"require":["/code"],"code":"/code","statuses":"any"}"#,
            #","response":{"unwrap":"/data"}"#, #","success":{"content_type":["application/json"]}"#,
        ]
    )
    func content(members: String) throws {
        let jobs = [Self.job("1", [(0, Self.failed)]), Self.job("2", [(5, Self.good)])]
        var order: [JSONValue] = []
        _ = try Self.rehearsal(jobs, members) { order = $0 }
        let words = order.first?["points"]?["eu"]?.elements.map { $0.elements[1].text }
        #expect(words == ["503", "?"], "\(order)")
    }

    @Test("has rules that never act only where all of it is known, and none that look at contents")
    func idle() throws {
        let rules = """
            ,"api_error":{"require":["/code"],"code":"/code"},"recovery":[{"name":"a","on":["404"],"fail":{}},
             {"name":"b","on":["api_error"],"fail":{}},{"name":"c","on":["any"],"fail":{}}]
            """
        let jobs = [Self.job("1", [(0, Self.failed)])]
        let known = try Self.rehearsal(jobs, rules)
        #expect(known.parts[0].idleRules == ["a", "c"])
        let unknown = try Self.rehearsal(jobs, rules, answer: Self.after)
        #expect(unknown.parts[0].idleRules == nil)
        #expect(!String(decoding: unknown.document(file: "it"), as: UTF8.self).contains("idle_rules"))
    }

    @Test("has no end where its course has none, and no figures")
    func noEnd() throws {
        let answer =
            #"{"courses":[{"attempts":7,"length_ms":1e300,"state":"retrying","rules":[],"held_back":[]}]}"#
        let rehearsal = try Self.rehearsal([Self.job("1", [(0, Self.failed)])], answer: answer)
        let figures = RehearsalFigures(rehearsal.jobs)
        #expect(figures.unknown[.noEnd] == 1 && figures.lostCount == 0 && figures.most == 0)
    }

    @Test("says that its waits are samples, and that a server of that name is another one")
    func told() throws {
        let course = #"{"attempts":1,"length_ms":1,"state":"dead","rules":[],"held_back":[]}"#
        let many = #"{"courses":[\#(course)],"sampled":48}"#
        let moved = Self.job("2", [(1, Self.failed + #","address":"192.0.2.1:8443""#)])
        let rehearsal = try Self.rehearsal([Self.job("1", [(0, Self.failed)]), moved], answer: many)
        #expect(rehearsal.assumptions.contains { $0.contains("are samples") })
        #expect(rehearsal.assumptions.contains { $0.contains("other servers by the name of orders/eu") })
        #expect(RehearsalFigures(rehearsal.jobs).unknown[.noAttempts] == 1)
    }

    @Test("is of a record whose numbers are bounded, and of the newest of too many jobs")
    func bounded() throws {
        let hostile = #","state":"dead","attempt_count":9223372036854775807"#
        let attempt = (0, Self.failed + #","duration_ms":9223372036854775807"#)
        let jobs = ["1", "2"].map { Self.job($0, [attempt], hostile) }
        let figures = RehearsalFigures(try Self.rehearsal(jobs).jobs)
        #expect(figures.onRecord == 2_000_000)
        var records = try records(
            of: (1...4).map { Self.job("\($0)", [(0, Self.failed), (1, Self.failed)]) }
        )
        #expect(records.isWhole)
        records.bound(jobs: 3)
        #expect(records.jobs.map(\.id) == ["4", "3", "2"] && records.notes.count == 1)
        records.bound(attempts: 5)
        #expect(records.jobs.map(\.id) == ["4", "3"] && records.notes.count == 2)
    }

    @Test(
        "goes with the others of its route where the file has protections, and each class has a path of its own"
    )
    func together() throws {
        let other = Self.job("2", [(5, Self.good)], #","state":"succeeded""#)
        let late = Self.job("3", [(5, Self.failed)])
        let another = Self.job(
            "4",
            [(0, Self.good)],
            #","state":"succeeded","request":{"method":"PUT","path":"/b"}"#
        )
        let jobs = [Self.job("1", [(0, Self.failed)]), other, late, another]
        var order: [JSONValue] = []
        let protected = #","circuit_breaker":{}"#
        func ends(_ records: JobRecords) throws -> RehearsalFigures {
            let file = """
                {"listeners":[{"name":"jobs","unix":"/run/a/jobs.sock","role":"submit"}],
                 "routes":{"orders":{"upstreams":[{"name":"eu","url":"https://eu.example/"}]\(protected)}}}
                """
            let course = #"{"attempts":1,"length_ms":1,"state":"dead","rules":[],"held_back":[]}"#
            func answer(_ lines: [UInt8]) -> [UInt8] {
                order = lines.split(separator: UInt8(ascii: "\n")).compactMap {
                    try? JSONValue(parsing: Array($0))
                }
                return Array(
                    [String](repeating: #"{"courses":[\#(course)]}"#, count: 2).joined(separator: "\n").utf8
                )
            }
            return RehearsalFigures(
                try Rehearsal(records, { _ in true }, try configuration(file), answer).jobs
            )
        }
        let whole = try records(of: jobs)
        #expect(try ends(whole).lostCount == 2)
        #expect(order.compactMap { $0["asked"] }.count { $0 == .bool(true) } == 2)
        #expect(order.compactMap { $0["asked"] }.count { $0 == .bool(false) } == 2)
        #expect(Set(order.compactMap { $0["path"]?.text }).count == 2)
        #expect(order.filter { $0["held_back"] == .bool(true) }.count == 2)
        #expect(order.last?["together"] == .bool(true))
        // Nobody knows what those would have done to a breaker that were not read.
        var cut = whole
        cut.noteCut("Not all were read.")
        #expect(try ends(cut).unknown == [.heldBack: 2])
        let saved = try JobRecords(parsing: cut.lines, from: "it")
        #expect(try ends(saved).unknown == [.heldBack: 2])
    }

    @Test("comes from a file of bounded size, and goes to one that is its owner's alone")
    func files() throws {
        let path = "/tmp/waystation-rehearse-\(getpid())"
        defer { unsafe unlink(path) }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o644)
        close(descriptor)
        unsafe chmod(path, 0o644)
        try FileBytes.write([1, 2, 3], path: path)
        var facts = stat()
        #expect(unsafe stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600 && facts.st_size == 3)
        #expect(try FileBytes.read(path: path, limit: 3) == [1, 2, 3])
        #expect(throws: CommandFailure.self) { try FileBytes.read(path: path, limit: 2) }
    }
}
