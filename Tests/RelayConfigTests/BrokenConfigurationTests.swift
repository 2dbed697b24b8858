import RelayConfig
import RelayJSON
import Testing

/// Something wrong in an otherwise good configuration, and every line that must be said about it.
struct BrokenRow: Sendable, CustomTestStringConvertible {
    enum Scope: String {
        /// The text is the whole file.
        case whole
        /// The text is a member on line 2 of the outermost object.
        case top
        /// The text is the list of a route's upstreams, on line 2.
        case upstreams
        /// The text is a member of a route, on line 2.
        case route
    }

    var scope: Scope
    var text: String
    /// Lines of the form `line:column: severity: message  [pointer] => hint`.
    var expected: [String]

    init(_ scope: Scope, _ text: String, _ expected: [String]) {
        self.scope = scope
        self.text = text
        self.expected = expected
    }

    /// Rows of a table: the scope and the text, and below it, further in, each line that must be said.
    ///
    /// A line that is too long goes on in the next, behind `+` where it is text and still further in where it is said;
    /// `|` begins another line of the text.
    static func rows(_ table: String) -> [BrokenRow] {
        var rows: [BrokenRow] = []
        for line in table.split(separator: "\n") {
            let last = rows.count - 1
            if line.hasPrefix("    ") {
                rows[last].expected[rows[last].expected.count - 1] += line.dropFirst(3)
            } else if line.hasPrefix("  ") {
                rows[last].expected.append(String(line.dropFirst(2)))
            } else if line.hasPrefix("+") {
                rows[last].text += line.dropFirst()
            } else if line.hasPrefix("| ") {
                rows[last].text += "\n" + line.dropFirst(2)
            } else {
                let parts = line.split(separator: " ", maxSplits: 1)
                guard let scope = Scope(rawValue: String(parts[0])) else {
                    preconditionFailure("no scope: \(line)")
                }
                rows.append(BrokenRow(scope, parts.count > 1 ? String(parts[1]) : "", []))
            }
        }
        return rows
    }

    var file: String {
        let upstreams = #"[{"name": "u", "url": "https://u.example/"}]"#
        return switch scope {
        case .whole: text
        case .top: "{\n\(text),\n\"routes\": {\"r\": {\"upstreams\": \(upstreams)}}}\n"
        case .upstreams: "{\"routes\": {\"r\": {\"upstreams\":\n\(text)\n}}}\n"
        case .route: "{\"routes\": {\"r\": {\"upstreams\": \(upstreams),\n\(text)\n}}}\n"
        }
    }

    var testDescription: String { text }
}

@Suite("Broken configurations")
struct BrokenConfigurationTests {
    @Test("A word in the wrong place is shown as it is: it is no secret")
    func shownWord() {
        let row = BrokenRow(
            .route,
            #""recovery": [{"name": "x", "on": ["503"], "retry": {"backoff": "exponential"}}]"#,
            []
        )
        #expect(Diagnostic.render(read(row.file).diagnostics).contains(#""backoff": "exponential""#))
    }

    @Test(
        "Each gets every message it should, with its place and the fix",
        arguments: brokenFiles + brokenUpstreams + brokenRoutes + brokenRules + brokenPromises
            + brokenVerification + brokenFollowing + brokenStreams + brokenHedging + brokenDurable
            + brokenHints + brokenClosed + brokenNotices
    )
    func messages(_ row: BrokenRow) {
        let result = read(row.file)
        let lines = result.diagnostics.map { diagnostic in
            let place = "\(diagnostic.position.line):\(diagnostic.position.column)"
            let pointer = diagnostic.pointer.isEmpty ? "" : "  [\(diagnostic.pointer)]"
            let hint = diagnostic.hint.map { " => \($0)" } ?? ""
            return "\(place): \(diagnostic.severity.rawValue): \(diagnostic.message)\(pointer)\(hint)"
        }
        #expect(lines == row.expected)
        let isError = row.expected.contains { $0.contains(": error: ") }
        #expect((result.configuration == nil) == isError)
        #expect(!Diagnostic.render(result.diagnostics).contains("hunter2"))
    }

    @Test("Every place points at the JSON it names")
    func pointers() throws {
        for row in brokenUpstreams + brokenRoutes + brokenRules + brokenPromises + brokenVerification
            + brokenFollowing + brokenStreams + brokenHedging
            + brokenDurable + brokenClosed + brokenNotices
        {
            let tree = try JSONDocument(parsing: Array(row.file.utf8)).root.value
            for diagnostic in read(row.file).diagnostics {
                let pointer = try JSONPointer(parsing: diagnostic.pointer)
                #expect(tree.value(at: pointer) != nil, "\(diagnostic.pointer) in \(row.text)")
            }
        }
    }

    @Test("All errors come at once, sorted by place, in a form compilers made familiar")
    func rendering() {
        let result = read(
            """
            {
              "routes": {
                "billing": {
                  "upstreams": [ { "name": "eu", "url": "https://eu.example/" } ],
                  "recovery": [ { "name": "é", "on": [ "429" ],
                    "retry": { "max_atempts": 4, "honor_retry_after": "yes", "max_retry_after": 10 } } ]
                }
              }
            }
            """
        )
        let expected = """
            t.json:5:31: error: a name has only lower-case letters, digits, ".", "_" and "-", and begins with one \
            of the first two  [/routes/billing/recovery/0/name]
             5 |       "recovery": [ { "name": "é", "on": [ "429" ],
               |                               ^~~
            t.json:6:20: error: unknown key "max_atempts"  [/routes/billing/recovery/0/retry]
             6 |         "retry": { "max_atempts": 4, "honor_retry_after": "yes", "max_retry_after": 10 } } ]
               |                    ^~~~~~~~~~~~~ did you mean "max_attempts"?
            t.json:6:59: error: expected true or false  [/routes/billing/recovery/0/retry/honor_retry_after]
             6 |         "retry": { "max_atempts": 4, "honor_retry_after": "yes", "max_retry_after": 10 } } ]
               |                                                           ^~~~~
            t.json:6:85: error: a duration needs a unit  [/routes/billing/recovery/0/retry/max_retry_after]
             6 |         "retry": { "max_atempts": 4, "honor_retry_after": "yes", "max_retry_after": 10 } } ]
               |                                                                                     ^~ \
            write "10s" or "10ms"

            """
        #expect(Diagnostic.render(result.diagnostics) == expected)
    }

    @Test("Editors and scripts get the same as JSON")
    func json() {
        let result = read("{\"routes\": {}, \"lgo\": {}}")
        let expected =
            #"[{"file":"t.json","line":1,"column":12,"pointer":"/routes","severity":"warning","#
            + #""message":"there are no routes: every request is answered 404","hint":null},"#
            + #"{"file":"t.json","line":1,"column":16,"pointer":"","severity":"error","#
            + #""message":"unknown key \"lgo\"","hint":"did you mean \"log\"?"}]"# + "\n"
        #expect(String(decoding: Diagnostic.json(result.diagnostics), as: UTF8.self) == expected)
        #expect(Diagnostic.json([]) == Array("[]\n".utf8))
    }

    @Test("A rule of the defaults is reported once, however many routes take it over")
    func defaultsOnce() {
        let result = read(
            #"""
            {"defaults": {"recovery": [{"name": "x", "on": ["busy"], "retry": {}}]},
             "routes": {"a": {"upstreams": [{"name": "u", "url": "https://u.example/"}]},
                        "b": {"upstreams": [{"name": "u", "url": "https://u.example/"}]}}}
            """#
        )
        #expect(result.diagnostics.map(\.pointer) == ["/defaults/recovery/0/on/0"])
    }

    @Test("A line of any length is cut around the place, and controls in it do nothing")
    func excerpts() throws {
        let padding = String(repeating: "x", count: 5000)
        let text = "{\"$comment\": \"\(padding)\u{7F}\u{202E}\", \"bad\": 1, \"$comment2\": \"\(padding)\"}"
        let result = read(text)
        let excerpt = try #require(result.diagnostics.first { $0.message.contains("\"bad\"") }?.excerpt)
        #expect(excerpt.text.count <= 162)
        #expect(excerpt.text.dropFirst(excerpt.indent).hasPrefix("\"bad\""))
        #expect(excerpt.width == 5)
        #expect(excerpt.text.contains("??\", \"bad\""))
        #expect(!excerpt.text.unicodeScalars.contains("\u{202E}"))
    }

    @Test("A flood of errors ends after two hundred", .timeLimit(.minutes(5)))
    func flood() {
        let unknown = (0..<50_000).map { "\"key\($0)\": 1, \"key\($0)\": 2" }.joined(separator: ",\n")
        let diagnostics = read("{\n\(unknown)\n}").diagnostics
        #expect(diagnostics.count { $0.severity == .error } == 200 && diagnostics.count <= 400)
        #expect(diagnostics.contains { $0.message == "more than 199 errors: the rest is left out" })
    }

    @Test("Warnings refuse nothing, however many, and an error behind them does", arguments: [199, 200, 500])
    func warnings(count: Int) {
        // Each of these routes ends with an upstream that no rule leads to.
        let routes = (0..<count).map {
            #""r\#($0)": {"upstreams": [{"name": "u", "url": "https://u.example/"}, "#
                + #"{"name": "v", "url": "https://v.example/", "use": "failover_only"}]}"#
        }
        let result = read(#"{"routes": {\#(routes.joined(separator: ",\n"))}}"#)
        #expect(result.configuration != nil)
        #expect(result.diagnostics.count == min(count, 200))
        #expect(result.diagnostics.allSatisfy { $0.severity == .warning })
        let cut = "more than 199 warnings: the rest is left out"
        let isCut = result.diagnostics.contains { $0.message == cut }
        #expect(isCut == (count >= 200))
        let broken = read(#"{"routes": {\#(routes.joined(separator: ",\n"))}, "zzz": 1}"#)
        #expect(broken.configuration == nil)
        #expect(broken.diagnostics.contains { $0.severity == .error && $0.message.contains("zzz") })
    }

    @Test("A file that is too large or too deep is refused")
    func bounds() {
        let large = [UInt8](repeating: 0x20, count: ConfigurationReader.sizeLimit + 1)
        let result = ConfigurationReader.read(
            large,
            file: "t.json",
            accounts: testAccounts,
            wallSeconds: testSeconds
        )
        #expect(result.diagnostics.map(\.message) == ["the file is larger than 8MiB"])
        let deep = read("{\"$comment\": " + String(repeating: "[", count: 100))
        #expect(deep.diagnostics.map(\.message) == ["more than 64 arrays and objects in one another"])
    }
}
