import RelayJSON
import Testing

@testable import waystation

@Suite("An agent's session")
struct AgentSessionTests {
    /// The calls that were made, as their command lines.
    private final class Calls {
        var words: [[String]] = []
    }

    private static func session(_ calls: Calls = Calls(), begins: Bool = true) -> Session {
        let session = Session(
            AgentSession { call in
                calls.words.append(call.words)
                return AgentSession.Told(text: "told\n", isError: call.words.contains("fails"))
            }
        )
        if begins { _ = session.answer(#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#) }
        return session
    }

    /// A session behind a reference.
    private final class Session {
        private var session: AgentSession

        init(_ session: AgentSession) { self.session = session }

        func answer(_ line: String) -> String? {
            session.answer(Array(line.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test(
        "agrees on a version",
        arguments: [
            ("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-06-18"), ("", "2025-06-18"),
        ]
    )
    func versions(wanted: String, agreed: String) throws {
        let session = Self.session(begins: false)
        let answer = try #require(
            session.answer(
                #"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"\#(wanted)"}}"#
            )
        )
        let json = try JSONValue(parsing: Array(answer.utf8))
        #expect(json["result"]?["protocolVersion"]?.text == agreed)
        #expect(json["result"]?["capabilities"] == .object([.init("tools", .object([]))]))
        #expect(json["id"] == .string("a"))
    }

    private static let fraction = try? JSONValue(parsing: Array("1.5".utf8))

    /// A line, and the code of the error that answers it; zero is a result, nil no answer.
    private static let lines: [(line: String, code: Int64?, id: JSONValue?)] = [
        ("", nil, .null), ("  \t\r", nil, .null), ("{", -32700, .null), ("nonsense", -32700, .null),
        ("{\"jsonrpc\":\"2.0\"", -32700, .null), ("\u{FEFF}{}", -32700, .null),
        (String(repeating: "[", count: 5_000), -32700, .null), ("{\"a\":\"\\ud800\"}", -32700, .null),
        ("1", -32600, .null), ("null", -32600, .null), ("\"a\"", -32600, .null), ("[]", -32600, .null),
        ("{}", -32600, .null), (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":1}"#, -32600, .number(JSONNumber(1))),
        (#"{"jsonrpc":"2.0","id":1,"method":1}"#, -32600, .number(JSONNumber(1))),
        (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 0, fraction),
        (#"{"jsonrpc":"2.0","id":1.5,"method":"none"}"#, -32601, fraction),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, 0, .number(JSONNumber(1))),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}"#, 0,
            .number(JSONNumber(1))
        ),
        (#"{"jsonrpc":"2.0","method":"notifications/a","params":[1]}"#, nil, .null),
        (#"{"jsonrpc":"2.0","method":"notifications/a","params":7}"#, nil, .null),
        (#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602, .number(JSONNumber(1))),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":7}"#, -32602, .number(JSONNumber(1))),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 0, .number(JSONNumber(1))),
        (#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{}}"#, 0, .string("x")),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}"#, -32602,
            .number(JSONNumber(1))
        ),
        (#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, -32601, .number(JSONNumber(1))),
        (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601, .number(JSONNumber(1))),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602, .number(JSONNumber(1))),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, -32602,
            .number(JSONNumber(1))
        ),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"jobs"}}"#, -32602,
            .number(JSONNumber(1))
        ),
        (#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, nil, .null),
        (#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#, nil, .null),
        (#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"status"}}"#, nil, .null),
        (#"{"jsonrpc":"2.0","method":"no such"}"#, nil, .null),
        (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, nil, .null),
        (#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"}}"#, nil, .null),
        (#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, .null),
    ]

    @Test("answers every line as JSON-RPC 2.0 has it, and none of them ends it")
    func table() throws {
        let calls = Calls()
        let session = Self.session(calls)
        for (line, code, id) in Self.lines {
            guard let answer = session.answer(line) else {
                #expect(code == nil, "\(line)")
                continue
            }
            let json = try JSONValue(parsing: Array(answer.utf8))
            #expect(!answer.contains("\n") && json["jsonrpc"] == .string("2.0"), "\(answer)")
            #expect((json["error"]?["code"]?.integer ?? 0) == code, "\(line): \(answer)")
            #expect(json["id"] == id, "\(line): \(answer)")
            #expect((json["result"] == nil) != (json["error"] == nil))
        }
        #expect(calls.words.isEmpty)
    }

    @Test("takes lists of calls in the versions that have them, and nothing before it has begun")
    func lists() throws {
        let session = Self.session(begins: false)
        let list = #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
        #expect(session.answer(list)?.contains("-32600") == true)
        _ = session.answer(
            #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#
        )
        let note = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
        let answer = try #require(
            session.answer("[\(note),\(list),{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"},3]")
        )
        let elements = try JSONValue(parsing: Array(answer.utf8)).elements
        #expect(elements.count == 3 && elements[1]["id"]?.integer == 2)
        #expect(elements[2]["error"]?["code"]?.integer == -32600)
        #expect(session.answer("[\(note)]") == nil)
    }

    /// Arguments of a tool, and its command line; nil of what is refused.
    private static let tools: [(name: String, arguments: String, words: [String]?)] = [
        ("status", "{}", ["status"]), ("status", "null", ["status"]),
        ("status", #"{"format":"json"}"#, ["status", "--output=json"]),
        ("status", #"{"format":"yaml"}"#, nil), ("status", #"{"socket":"/tmp/a"}"#, nil),
        ("status", "[]", nil),
        ("explain", "{}", nil), ("explain", #"{"subject":"--help"}"#, ["explain", "--", "--help"]),
        ("explain", #"{"subject":""}"#, nil), ("explain", #"{"subject":"a\u0000b"}"#, nil),
        ("explain", #"{"subject":7}"#, nil),
        ("dead", #"{"by":"route","route":"-a"}"#, ["dead", "--by=route", "--route=-a"]),
        ("dead", #"{"by":"x"}"#, nil),
        ("shape", #"{"by":"state"}"#, ["shape", "--by=state"]),
        (
            "what-if", #"{"route":"a","failures":["503x2","ok"],"durable":true,"key":false,"body":" {}"}"#,
            ["what-if", "--body= {}", "--durable", "--", "a", "503x2", "ok"]
        ),
        ("what-if", #"{"route":"a","failures":[]}"#, nil),
        ("what-if", #"{"route":"a","failures":"503"}"#, nil),
        ("what-if", #"{"route":"a","failures":["@/etc/passwd"]}"#, nil),
        ("what-if", #"{"route":"a","failures":["/etc/passwd"]}"#, nil),
        ("what-if", #"{"route":"a","failures":["503"],"body":"/etc/passwd"}"#, nil),
        ("what-if", #"{"route":"a","failures":["503"],"config":"/etc/passwd"}"#, nil),
        (
            "events", #"{"types":["job.dead"],"limit":3,"format":"json"}"#,
            ["events", "--output=ndjson", "--type=job.dead"]
        ),
        ("events", #"{"limit":0}"#, nil), ("events", #"{"limit":1.5}"#, nil),
        ("events", #"{"limit":99999}"#, nil),
    ]

    @Test("makes command lines of arguments, and tells what is wrong with them as a tool's result")
    func arguments() throws {
        for (name, arguments, words) in Self.tools {
            let calls = Calls()
            let session = Self.session(calls)
            let call =
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(name)","arguments":\#(arguments)}}"#
            let answer = try #require(session.answer(call))
            let result = try JSONValue(parsing: Array(answer.utf8))["result"]
            #expect(calls.words == (words.map { [$0] } ?? []), "\(call)")
            #expect(result?["isError"] == .bool(words == nil), "\(call): \(answer)")
            #expect(result?["content"]?.elements.first?["text"]?.text?.isEmpty == false)
        }
    }

    @Test("has tools that only read, each with a schema of its arguments")
    func schemas() throws {
        let session = Self.session()
        let answer = try #require(session.answer(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#))
        let tools = try JSONValue(parsing: Array(answer.utf8))["result"]?["tools"]?.elements ?? []
        #expect(
            tools.compactMap { $0["name"]?.text } == [
                "status", "explain", "dead", "shape", "what-if", "events",
            ]
        )
        for tool in tools {
            #expect(tool["annotations"]?["readOnlyHint"] == .bool(true))
            #expect(tool["inputSchema"]?["type"] == .string("object"))
            #expect(tool["inputSchema"]?["additionalProperties"] == .bool(false))
            #expect(tool["description"]?.text?.isEmpty == false)
        }
    }

    @Test("takes lines in pieces, and lets one go that is too long")
    func lines() {
        var lines = BoundedLines()
        func take(_ text: String, _ isLast: Bool = false) -> [String?] {
            lines.take(ArraySlice(Array(text.utf8)), isLast: isLast).map {
                $0.map { String(decoding: $0, as: UTF8.self) }
            }
        }
        #expect(take("a\nb") == ["a"])
        #expect(take("c\n\nd") == ["bc", ""])
        let long = String(repeating: "x", count: BoundedLines.longest)
        #expect(take(long) == [])
        #expect(take("\ne\n") == [nil, "e"])
        #expect(take(long + "\n") == [long])
        #expect(take("f", true) == ["f"])
    }
}
