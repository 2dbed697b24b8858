import RelayJSON
import Testing

@testable import waystation

@Suite("Which jobs an action is for")
struct WhereClauseTests {
    private static let now: Int64 = 1_800_000_000_000

    private func filter(_ clauses: [String]) throws -> String {
        String(
            decoding: JSONValue.object(try WhereClause(clauses, now: Self.now).filter).encoded(),
            as: UTF8.self
        )
    }

    @Test(
        "Pairs become the members of the API's filter",
        arguments: [
            (["route=a,state=dead,state=held"], #"{"route":"a","state":["dead","held"]}"#),
            (["state=dead|held", "status=503"], #"{"status":503,"state":["dead","held"]}"#),
            (["kind=http_status,label=a=b"], #"{"failure_kind":"http_status","label":"a=b"}"#),
            (["since=90m"], #"{"created_after":"2027-01-15T06:30:00.000Z"}"#), (["all"], "{}"),
        ]
    )
    func pairs(clauses: [String], document: String) throws {
        #expect(try filter(clauses) == document)
    }

    @Test(
        "Jobs that come while a person is asked are not meant",
        arguments: [
            ("all", #"{"created_before":"2027-01-15T08:00:00.000Z"}"#),
            ("before=2026-01-31T08:00:00Z", #"{"created_before":"2026-01-31T08:00:00.000Z"}"#),
            (
                "before=2028-01-31T08:00:00Z,route=a",
                #"{"route":"a","created_before":"2027-01-15T08:00:00.000Z"}"#
            ),
        ]
    )
    func closed(clause: String, document: String) throws {
        let closed = try WhereClause([clause], now: Self.now).closed(at: Self.now)
        #expect(String(decoding: JSONValue.object(closed.filter).encoded(), as: UTF8.self) == document)
        #expect(closed.text == (try WhereClause([clause], now: Self.now).text))
    }

    @Test("A person is asked about the words that were given")
    func words() throws {
        #expect(try WhereClause(["route=a,state=dead"], now: Self.now).text == "route=a, state=dead")
        #expect(try WhereClause(["all"], now: Self.now).text == "all there are")
        #expect(try WhereClause(ids: ["x"]).text == "those that were named")
    }

    @Test(
        "A filter that names no jobs is refused, and never taken for all of them",
        arguments: [
            ([""], "takes name=value pairs"), (["route="], "takes name=value pairs"),
            (["all,route=a"], "takes name=value pairs"),
            (["rout=a"], "knows no \"rout\"; did you mean route?"),
            (["route=a,route=b"], "takes one value of each name but state"),
            (["status=teapot"], "such as 503"),
            (["since=yesterday"], "takes a span such as 90m or 2d"),
        ]
    )
    func refused(clauses: [String], words: String) {
        let failure = #expect(throws: CommandFailure.self) { try WhereClause(clauses, now: Self.now) }
        #expect(
            failure?.code == .usage && failure?.message.contains(words) == true,
            "\(failure?.message ?? "")"
        )
    }

    @Test("A thousand ids are taken, and one more is refused")
    func ids() throws {
        _ = try WhereClause(ids: Array(repeating: "x", count: 1_000))
        #expect(throws: CommandFailure.self) { try WhereClause(ids: Array(repeating: "x", count: 1_001)) }
    }
}
