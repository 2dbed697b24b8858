import RelayInterface
import RelayJSON
import Testing

@testable import waystation

private let now: Int64 = 1_795_234_664_000  // 2026-11-21T04:17:44Z

private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

/// A job that is kept, with its request on disk.
private func kept(_ text: String) throws -> JSONValue {
    guard case .object(let members) = try json(text) else { return .null }
    let others = members.filter { $0.name != "durable" }
    let links = JSONValue.object([JSONValue.Member("request_body", .string("/v1/jobs/1/request/body"))])
    return .object(others + [JSONValue.Member("durable", .bool(true)), JSONValue.Member("links", links)])
}

@Suite("Jobs for people")
struct JobTextTests {
    private let moments = Moments(now: now, isUTC: true)

    private let waiting = """
        {"id":"01K9","route":"hooks","state":"retrying","reason":"backoff","durable":true,
         "request":{"method":"POST","path":"/orders","size":512},"created_at":"2026-11-21T04:07:10.028Z",
         "due_at":"2026-11-21T04:20:24.000Z","expires_at":"2026-11-24T04:07:10.028Z","max_attempts":8,
         "attempt_count":3,"attempts":[{"number":2,"upstream":"partner","address":"203.0.113.7:443",
          "started_at":"2026-11-21T04:07:15.640Z","duration_ms":15000,"kind":"http_response_timeout",
          "rule":"later","next":"retry","wait_ms":300000},
          {"number":3,"upstream":"partner","started_at":"2026-11-21T04:12:31.000Z","duration_ms":210,"status":503,
           "kind":"http_status","rule":"later","next":"retry","wait_ms":473000}],
         "last_failure":{"kind":"http_status","detail":"the upstream answered 503"},
         "blocker":{"reason":"backoff","detail":"its last attempt failed","until":"2026-11-21T04:20:24.000Z"},
         "client":{"uid":1001,"unit":"shop-web.service"},"labels":["order=8841"],"version":7}
        """

    @Test("a job that waits tells each attempt, the next one, why, and what to do")
    func story() throws {
        let companions = JobStory.Companions(
            count: 184,
            hasMore: false,
            since: WallTime("2026-11-20T22:41:00Z")
        )
        let text = JobStory(try kept(waiting), moments, companions: companions).text(for: .standard)
        #expect(
            text == """
                Job 01K9 · hooks · POST /orders · 512 B · from shop-web.service (uid 1001) · label order=8841
                  04:07:10.028  accepted      durable, expires in 2d 23h
                                (earlier attempts not shown: 1)
                  04:07:15.640  attempt 2  → partner 203.0.113.7:443      http_response_timeout in 15.00s
                                rule "later": retry in 5m 0s
                  04:12:31.000  attempt 3  → partner                      503 in 210ms
                                rule "later": retry in 7m 53s
                  04:20:24.000  next attempt  in 2m 40s
                Why it waits: backoff. Its last attempt failed. The route sees the same failure on 184 jobs \
                (since Nov 20 22:41).
                Do: to try at once: waystation jobs retry 01K9   ·   to stop the route: waystation pause hooks   ·   \
                waystation logs 01K9

                """
        )
    }

    @Test("what was tried before a job was kept stands before that")
    func answeredFirst() throws {
        let document = """
            {"id":"1","route":"r","state":"retrying","created_at":"2026-11-21T04:07:10.000Z","attempt_count":2,
             "attempts":[
              {"number":1,"upstream":"u","started_at":"2026-11-21T04:07:09.900Z","status":503,"rule":"answer",
               "next":"respond_and_keep","next_source":"placeholder"},
              {"number":2,"upstream":"u","started_at":"2026-11-21T04:07:15.000Z","status":503}]}
            """
        let lines = JobStory(try kept(document), moments).text(for: .standard).split(separator: "\n")
        #expect(
            lines[1].contains("attempt 1") && lines[3].contains("accepted") && lines[4].contains("attempt 2")
        )
        #expect(
            lines[2].contains(
                "rule \"answer\": answered with the placeholder; the request goes on as a kept job"
            )
        )
    }

    @Test("a job that died of its record on disk is not blamed on the upstream, nor to be retried")
    func damaged() throws {
        let document = """
            {"id":"1","route":"r","state":"dead","end":"corrupt","created_at":"2026-11-21T04:07:10.000Z",
             "finished_at":"2026-11-21T04:17:01.000Z","attempt_count":1,"status":500,
             "attempts":[{"number":1,"upstream":"u","started_at":"2026-11-21T04:10:00.000Z","status":500,
               "kind":"http_status","sent":"answered"}],
             "last_failure":{"kind":"http_status","status":500,"detail":"the upstream answered 500"}}
            """
        let text = JobStory(try kept(document), moments).text(for: .standard)
        #expect(text.contains("dead (corrupt): the disk no longer holds what was written\n"), "\(text)")
        let advice = text.split(separator: "\n").last ?? ""
        #expect(advice.hasPrefix("Do: hand the request over again") && !advice.contains("retry"), "\(text)")
    }

    @Test("who handed it over has a name where the system knows one")
    func sender() throws {
        for (client, title) in [
            (#""uid":7,"unit":"shop.service""#, "from shop.service (alice, uid 7)"),
            (#""uid":7"#, "from alice (uid 7)"), (#""uid":8"#, "from uid 8"),
        ] {
            let document = #"{"id":"1","route":"r","state":"queued","client":{\#(client)}}"#
            let story = JobStory(try kept(document), moments) { $0 == 7 ? "alice" : nil }
            let text = story.text(for: .standard)
            #expect(text.prefix { $0 != "\n" }.hasSuffix(title), "\(text)")
        }
    }

    @Test("what was done to a job stands among its attempts, in order of time")
    func actions() throws {
        let document = """
            {"id":"1","route":"r","state":"dead","end":"exhausted","created_at":"2026-11-21T04:07:10.000Z",
             "finished_at":"2026-11-21T04:17:01.000Z","attempts":[
              {"number":1,"upstream":"u","started_at":"2026-11-21T04:10:00.000Z","status":200},
              {"number":2,"upstream":"u","started_at":"2026-11-21T04:17:00.000Z","status":200}],
             "attempt_count":2,"actions":[
              {"action":"hold","at":"2026-11-21T04:08:00.000Z","uid":0},
              {"action":"release","at":"2026-11-21T04:10:00.000Z","uid":1001,"bulk":true},
              {"action":"cancel","at":"2026-11-21T04:10:01.000Z","asked":true},
              {"action":"retry","at":"2026-11-21T04:17:00.000Z","uid":0},
              {"action":"cancel","at":"2026-11-21T04:17:00.500Z","uid":0},
              {"action":"expunge","at":"2026-11-21T04:17:02.000Z","uid":0}]}
            """
        let text = JobStory(try kept(document), moments).text(for: .standard)
        #expect(
            text.split(separator: "\n").dropFirst().prefix(9).map { $0.dropFirst(2) } == [
                "04:07:10.000  accepted      durable", "04:08:00.000  held          by uid 0",
                "04:10:00.000  released      by uid 1001, in a bulk action",
                "04:10:00.000  attempt 1  → u                            200",
                "04:10:01.000  cancel asked  by somebody the kernel has no name for",
                "04:17:00.000  retried       by uid 0",
                "04:17:00.000  attempt 2  → u                            200",
                "04:17:00.500  cancelled     by uid 0", "04:17:01.000  dead (exhausted)",
            ]
        )
        #expect(text.contains("dead (exhausted)\n  04:17:02.000  expunged      by uid 0\nDo:"))
    }

    @Test("a job that is sent again only when that is safe says so for as long as it matters")
    func repeatable() throws {
        let story = { (more: String) throws in
            JobStory(try kept(waiting.replacing(#""version":7"#, with: #""version":7,\#(more)"#)), moments)
                .text(for: .standard)
        }
        let words = "durable, not repeatable (sent again only after it was refused or never sent), expires in"
        #expect(try story(#""repeatable":false"#).contains(words))
        #expect(try !story(#""repeatable":true"#).contains("repeatable"))
        let over = #"{"id":"01K9","route":"r","state":"succeeded","durable":true,"repeatable":false}"#
        #expect(!JobStory(try kept(over), moments).text(for: .standard).contains("repeatable"))
    }

    @Test(
        "what can be done depends on why it waits",
        arguments: [
            ("held", "route_paused", "waystation resume r"),
            ("held", "operator_hold", "waystation jobs release 01K9"),
            ("held", "credentials", "waystation jobs release 01K9"),
            ("running", "running", "waystation jobs watch 01K9"),
            ("dead", "", "to try again: waystation jobs retry 01K9"),
            ("queued", "ordering", "waystation jobs --route r"),
            ("queued", "route_removed", "waystation reload"),
            ("retrying", "backoff", "waystation jobs retry 01K9"),
        ]
    )
    func advice(state: String, reason: String, command: String) throws {
        let document =
            #"{"id":"01K9","route":"r","state":"\#(state)","blocker":{"reason":"\#(reason)","detail":"x"}}"#
        let text = JobStory(try kept(document), moments).text(for: .standard)
        let advice = text.split(separator: "\n").last { $0.hasPrefix("Do: ") }
        #expect(advice?.contains(command) == true, "\(text)")
    }

    @Test("a job that is over says how, with the reason once")
    func over() throws {
        let dead =
            #"{"id":"1","state":"dead","end":"exhausted","status":503,"finished_at":"2026-11-21T04:17:00Z","last_failure":{"kind":"http_status","detail":"no"}}"#
        #expect(
            JobStory(try kept(dead), moments).text(for: .standard)
                .contains("04:17:00.000  dead (exhausted): http_status: no\n")
        )
        let fine = #"{"id":"1","state":"succeeded","status":200,"source":"fallback"}"#
        let text = JobStory(try kept(fine), moments).text(for: .standard)
        #expect(text.contains("succeeded: answered 200 with the fallback\n") && !text.contains("Do:"))
    }

    @Test(
        "a failure that no rule is for says so, one that a rule was asked about does not",
        arguments: [true, false]
    )
    func noRule(isAsked: Bool) throws {
        let held = isAsked ? #","held_back":[{"rule":"later","reason":"spent"}]"# : ""
        let dead = """
            {"id":"1","state":"dead","end":"exhausted","last_failure":{"kind":"http_status"},
             "attempts":[{"number":1,"status":404,"kind":"http_status"\(held)}]}
            """
        let text = JobStory(try kept(dead), moments).text(for: .standard)
        #expect(text.contains("dead (exhausted, no rule acts on it)") != isAsked)
    }

    @Test(
        "no next attempt is told of a job that does not go on by itself",
        arguments: [
            ("held", "operator_hold", false), ("retrying", "route_paused", false),
            ("queued", "ordering", false),
            ("retrying", "backoff", true),
        ]
    )
    func next(state: String, reason: String, isTold: Bool) throws {
        let document = """
            {"id":"1","state":"\(state)","reason":"\(reason)","due_at":"2026-11-21T04:20:24Z",
             "blocker":{"reason":"\(reason)","detail":"x"}}
            """
        let job = try kept(document)
        #expect(JobStory(job, moments).text(for: .standard).contains("next attempt") == isTold)
        let style = try ListStyle(Arguments([], of: "jobs", options: OptionSpec.list))
        #expect(JobList(style: style).table([job]).rowsText.contains("  –     –") != isTold)
    }

    @Test(
        "the attempts stand with their limit, until another life has added to them",
        arguments: [(4, "4/4"), (5, "5")]
    )
    func attempts(count: Int, text: String) throws {
        #expect(JobDocument(try json(#"{"attempt_count":\#(count),"max_attempts":4}"#)).attempts == text)
    }

    @Test("text from elsewhere cannot act on the terminal", arguments: [true, false])
    func escapes(isSheet: Bool) throws {
        let bad = #"\u001b[2J"#
        let document = """
            {"id":"\(bad)","route":"\(bad)","state":"held","reason":"\(bad)","request":{"method":"\(bad)","path":"\(bad)"},
             "attempts":[{"upstream":"\(bad)","address":"\(bad)","kind":"\(bad)","rule":"\(bad)","next":"\(bad)"}],
             "last_failure":{"kind":"\(bad)","detail":"\(bad)"},"labels":["\(bad)"],"client":{"unit":"\(bad)"},
             "blocker":{"reason":"\(bad)","detail":"\(bad)"},"ordering_key":"\(bad)","supersede_key":"\(bad)"}
            """
        let job = try kept(document)
        var news = JobNews(isUTC: true)
        let text =
            isSheet
            ? JobSheet(job, moments, explain: "").text
            : JobStory(job, moments).text(for: .standard) + news.lines(of: job, now: now)
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test("a list has a row for each job, and nothing is said twice")
    func list() throws {
        let style = try ListStyle(Arguments(["--no-headers"], of: "jobs", options: OptionSpec.list))
        let table = JobList(style: style).table([try json(waiting)])
        let cells = table.rowsText.split(separator: " ").map(String.init)
        #expect(cells.prefix(5) == ["01K9", "hooks", "retrying", "backoff", "3/8"])
        #expect(cells.suffix(4) == ["http_status", "POST", "/orders", "order=8841\n"])
        #expect(style.text(of: table) == table.rowsText)
    }

    @Test("a watcher is told an attempt and a state once")
    func news() throws {
        var news = JobNews(isUTC: true)
        let job = try json(waiting)
        #expect(
            news.lines(of: job, now: now) == """
                04:07:30.640  attempt 2 → partner http_response_timeout
                04:12:31.210  attempt 3 → partner 503 http_status
                04:17:44.000  retrying (backoff), next in 2m

                """
        )
        #expect(news.lines(of: job, now: now + 1_000) == "")
        let over = try json(#"{"state":"dead","end":"exhausted","finished_at":"2026-11-21T04:21:00Z"}"#)
        #expect(news.lines(of: over, now: now + 300_000) == "04:21:00.000  dead (exhausted)\n")
    }

    @Test(
        "ages and moments are short",
        arguments: [
            ("2026-11-21T04:17:32Z", "12s", "04:17:32"), ("2026-11-21T04:13:00Z", "4m", "04:13:00"),
            ("2026-11-20T22:41:00Z", "5h", "Nov 20 22:41"), ("2025-11-21T04:17:44Z", "365d", "2025-11-21"),
            ("nonsense", "–", "–"), ("2026-11-21T04:18:00Z", "0s", "04:18:00"),
        ]
    )
    func ages(text: String, age: String, moment: String) {
        #expect(moments.age(text) == age)
        #expect(moments.short(text) == moment)
    }
}

@Suite("Groups of dead jobs, routes and events for people")
struct OverviewTextTests {
    private let moments = Moments(now: now, isUTC: true)

    @Test("dead jobs are grouped by what they died of, the largest group first, each with its commands")
    func dead() throws {
        var groups = DeadGroups(by: .kind)
        for (id, route, kind, minute) in [
            ("A", "a", "http_status", "01"), ("B", "b", "http_status", "03"), ("C", "a", "dns_error", "02"),
        ] {
            groups.add(
                try json(
                    #"{"id":"\#(id)","route":"\#(route)","end":"exhausted","created_at":"2026-11-21T04:\#(minute):44Z","last_failure":{"kind":"\#(kind)"}}"#
                )
            )
        }
        groups.add(try json(#"{"id":"D","route":"a","end":"poison","created_at":"2026-11-21T04:00:00Z"}"#))
        #expect(groups.sorted.map(\.key) == ["http_status", "dns_error", "poison"])
        let style = try ListStyle(Arguments(["--utc"], of: "dead", options: OptionSpec.list))
        let text = groups.text(style, route: "a")
        #expect(text.contains("a, b"))
        #expect(text.contains("  Why:    waystation explain B\n"))
        let filter = "state=dead,route=a,kind=http_status,end=exhausted"
        #expect(text.contains("jobs retry --where \(filter) --rate 50/s\n"))
        #expect(
            text.contains(
                "poison:\n  Why:    waystation explain D\n"
                    + "  Retry:  waystation jobs retry --where state=dead,route=a,end=poison --rate 50/s\n"
            )
        )
        #expect(groups.document["groups"]?.elements.first?["count"]?.integer == 2)
        #expect(DeadGroups(by: .route).text(style, route: nil) == "There are no dead jobs.\n")
    }

    @Test("the shape has a column for each age and the total first")
    func shape() throws {
        let document =
            #"{"bucket_ms":[60000,7680000],"total":{"total":3,"counts":[1,2,0]},"rows":[{"key":"hooks","total":3,"counts":[1,2,0]}]}"#
        #expect(
            shapeTable(try json(document)).text { $0 } == """
                       TOTAL  <1m  <2h8m  2h8m+
                TOTAL      3    1      2      0
                hooks      3    1      2      0

                """
        )
    }

    @Test("a paused route says why and until when")
    func route() throws {
        let document =
            #"{"name":"hooks","state":"paused","jobs":{"queued":184,"dead":3},"pause":{"reason":"410 Gone","until":"2026-11-21T04:30:00Z","rule":"gone"}}"#
        let view = RouteDocument(try json(document), moments)
        #expect(view.pause == #"paused until 04:30:00: 410 Gone (rule "gone")"#)
        #expect(routesTable([try json(document)], moments).rowsText.contains("184"))
        #expect(view.sheet.contains("Jobs           184 queued, 3 dead\n"))
    }

    @Test(
        "the oldest job's age is told no finer than it is known",
        arguments: [
            ("2026-11-21T04:17:00Z", "<1m"), ("2026-11-21T04:17:20Z", "24s"), ("2026-11-21T04:14:00Z", "3m"),
            ("2026-11-21T01:00:00Z", "3h"),
        ]
    )
    func oldest(since: String, age: String) throws {
        let route = try json(#"{"name":"hooks","oldest_job_at":"\#(since)"}"#)
        #expect(RouteDocument(route, moments).sheet.contains("Oldest job     \(age) old\n"))
        #expect(routesTable([route], moments).rowsText.contains("  \(age)"))
    }

    @Test("the hour of a route has a line for each minute, with what failed and what happened in it")
    func history() throws {
        let document =
            #"{"interval_ms":60000,"began_at":"2026-11-21T04:14:30.500Z","reloads":["2026-11-21T04:16:40.000Z"],"#
            + #""routes":[{"name":"hooks","requests":[4,null,0],"failures":[3,null,0],"fallbacks":[0,null,0],"#
            + #""attempts":[9,null,0],"failed_attempts":[8,null,0],"p50_ms":[7.5,null,null],"p99_ms":[9.5,null,null],"#
            + #""in_flight":[2,null,0],"queued":[1,null,0],"causes":[{"kind":"http_status","status":503,"#
            + #""counts":[7,null,0]},{"kind":"other","counts":[1,null,0]}],"marks":[{"at":"2026-11-21T04:14:31.000Z","#
            + #""event":"waystation.route.breaker","state":"open","upstream":"e\u001bu"},"#
            + #"{"at":"2026-11-21T04:16:31.000Z","event":"waystation.route.paused","by":{"uid":7}}]}]}"#
        #expect(
            historyTable(try json(document), moments).text { $0 } == """
                FROM      REQUESTS  FAILED  STAND-INS  ATTEMPTS  FAILED  P50 MS  P99 MS  IN FLIGHT  QUEUED  WHAT HAPPENED
                04:14:30         4       3          0         9       8     7.5     9.5          2       1  7 × http_status 503, 1 × other, Circuit breaker of \(safe("e\u{1b}u")) opened
                04:15:30         –       –          –         –       –       –       –          –       –
                04:16:30         0       0          0         0       0       –       –          0       0  Reloaded, Paused by uid 7

                """
        )
    }

    @Test("an event is a line with its time, its kind, and what is known")
    func event() throws {
        let document =
            #"{"type":"waystation.job.attempt.failed","time":"2026-11-21T04:17:00.250Z","data":{"route":"r","job":"J","attempt":2,"status":503,"kind":"http_status","rule":"later","wait_ms":2000,"detail":"\u001bno"}}"#
        #expect(
            eventLine(try json(document), moments)
                == "04:17:00.250  job.attempt.failed  r  J  attempt 2  503  http_status  rule later  next in 2.00s  \\u{1b}no\n"
        )
        let run =
            #"{"type":"waystation.run.ended","time":"2026-11-21T04:17:00Z","data":{"run":3,"action":"retry","state":"stopped","matched":9,"changed":4,"route":"r"}}"#
        #expect(
            eventLine(try json(run), moments)
                == "04:17:00.000  run.ended           r  run 3  retry  stopped  4 of 9 jobs changed\n"
        )
        let gap = #"{"type":"waystation.gap","time":"2026-11-21T04:17:00Z","data":{"lost":6}}"#
        #expect(eventLine(try json(gap), moments).contains("gap                 events that are gone: 6"))
    }

    @Test("the dead are told apart by status, and by whether they may have been carried out")
    func deadApart() throws {
        var groups = DeadGroups(by: .kind)
        for (id, status, end) in [
            ("A", 401, "exhausted"), ("B", 500, "exhausted"), ("C", 500, "not_repeatable"),
            ("D", 500, "exhausted"),
        ] {
            groups.add(
                try json(
                    #"{"id":"\#(id)","route":"r","end":"\#(end)","last_failure":{"kind":"http_status","status":\#(status)}}"#
                )
            )
        }
        let style = try ListStyle(Arguments(["--utc"], of: "dead", options: OptionSpec.list))
        let text = groups.text(style, route: nil, Advice(isOwnJobs: true, option: " --socket /s"))
        #expect(groups.sorted.map(\.title) == ["http_status 500", "http_status 401", "http_status 500"])
        #expect(
            text.contains(
                "http_status 401:\n  Why:    waystation explain A --socket /s\n  Retry:  sudo waystation jobs retry "
                    + "--where state=dead,kind=http_status,status=401,end=exhausted --rate 50/s --socket /s\n"
            )
        )
        #expect(
            text.contains(
                "http_status 500, not_repeatable:\n  They may have been carried out: ask the upstream first.\n"
            )
        )
        #expect(text.contains("state=dead,kind=http_status,status=500,end=not_repeatable"))
    }

    @Test(
        "of a job that may have been carried out, what to do depends on whether it was",
        arguments: ["outcome_unknown", "not_repeatable"]
    )
    func doubt(end: String) throws {
        let dead =
            #"{"id":"J","state":"dead","end":"\#(end)","status":500,"attempts":[{"number":1,"kind":"http_status"}]}"#
        let text = JobStory(try kept(dead), moments).text(for: .standard)
        #expect(text.contains("it may have been carried out: ask the upstream first"))
        let drop = "if it has acted: waystation jobs drop J"
        #expect(
            text.contains(
                "\nDo: see the last answer: waystation cat J --response   ·   \(drop)   ·   if not: waystation jobs retry J"
            )
        )
        var groups = DeadGroups(by: .route)
        groups.add(try json(#"{"id":"J","route":"r","end":"\#(end)"}"#))
        let style = try ListStyle(Arguments([], of: "dead", options: OptionSpec.list))
        #expect(groups.text(style, route: nil).contains("--where state=dead,route=r,end=\(end) --unknown"))
    }

    @Test("a watcher's lines never go back in time")
    func order() throws {
        var news = JobNews(isUTC: true)
        _ = news.lines(of: try json(#"{"state":"running"}"#), now: now)
        let attempt = #"{"number":1,"upstream":"u","started_at":"2026-11-21T04:17:43.900Z","duration_ms":20}"#
        let over = #"{"state":"succeeded","finished_at":"2026-11-21T04:17:43.930Z","attempts":[\#(attempt)]}"#
        let text = news.lines(of: try json(over), now: now + 10)
        #expect(text == "04:17:44.000  attempt 1 → u\n04:17:44.000  succeeded\n")
    }

    @Test("a gap without a number says why there is one")
    func unknownGap() throws {
        let gap = #"{"type":"waystation.gap","time":"2026-11-21T04:17:00Z","data":{}}"#
        #expect(
            eventLine(try json(gap), moments).contains("gap                 the daemon was started anew: ")
        )
    }

    @Test("the status has columns for jobs only when the daemon keeps any", arguments: [true, false])
    func status(hasJobs: Bool) throws {
        let jobs = hasJobs ? #","queued":184,"dead":3"# : ""
        let text = StatusText(try json(#"{"routes":[{"name":"a"\#(jobs)}]}"#)).text(for: .standard)
        #expect(text.contains("QUEUED  DEAD") == hasJobs)
        #expect(text.contains("184     3") == hasJobs)
    }
}
