import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute
import Testing

@testable import RelayServer

@Suite("The parameters of a call")
struct QueryTests {
    private let limit = Parameter.number("limit", 1...500, "")
    private let after = Parameter.moment("after", "")
    private let wait = Parameter.duration("wait", atMost: .seconds(300), "")

    private func query(_ text: String) throws -> Query {
        let texts = ["label", "route", "cursor"].map { Parameter.text($0, .text, "") }
        let known: [any QueryParameter] = [limit, after, wait, JobListing.state]
        return try Query(APICall(head("/v1/jobs" + text), role: .admin).target, texts + known)
    }

    @Test(
        "Are read as they were meant, or not at all",
        arguments: [
            ("", "nil"), ("?", "nil"), ("?route=a", "nil"), ("?label", ""), ("?label=", ""),
            ("?label=a%2Bb+c%20d", "a+b c d"), ("?l%61bel=x", "x"), ("?&&label=x&", "x"),
            ("?label==x=", "=x="),
            ("?label=%E2%82%AC", "€"), ("?label=%00", "bad_target"), ("?label=%", "bad_target"),
            ("?label=%4", "bad_target"),
            ("?label=%zz", "bad_target"), ("?label=%+1", "bad_target"), ("?label=%C0%AF", "bad_target"),
            ("?label=%ED%A0%80", "bad_target"), ("?label=a&l%61bel=b", "bad_target"),
            ("?Label=a", "bad_target"),
            ("?=a", "bad_target"), ("?label[]=a", "bad_target"),
        ]
    )
    func decoded(text: String, label: String) throws {
        #expect(try outcome { try query(text)["label"] ?? "nil" } == label)
    }

    @Test(
        "Numbers, times, durations and words keep their bounds",
        arguments: [
            ("?limit=1", "1"), ("?limit=0500", "500"), ("?limit=+5", "bad_target"),
            ("?limit=%2B5", "bad_target"),
            ("?limit=5e1", "bad_target"), ("?limit=", "bad_target"), ("?limit=00000000005", "bad_target"),
            ("?after=1970-01-01T00:00:00Z", "0"), ("?after=1969-12-31T23:59:59Z", "bad_target"),
            ("?after=2027-01-31T08:00:00", "bad_target"), ("?after=", "bad_target"),
            ("?wait=300s", "300.0 seconds"),
            ("?wait=5m", "300.0 seconds"), ("?wait=301s", "bad_target"), ("?wait=-1s", "bad_target"),
            ("?wait=5", "bad_target"), ("?wait=99999999999999999999h", "bad_target"),
            ("?state=dead,held", "dead held"),
            ("?state=", "bad_target"), ("?state=dead,,held", "bad_target"), ("?state=Dead", "bad_target"),
        ]
    )
    func bounds(text: String, outcome expected: String) throws {
        let read = try outcome {
            let query = try query(text)
            let values: [Any?] = [
                try query.value(limit), try query.value(after), try query.value(wait),
            ]
            let states = try query.value(JobListing.state).map(\.name)
            return (values.compactMap(\.self).map { "\($0)" } + states).joined(separator: " ")
        }
        #expect(read == expected)
    }

    @Test("The way to the next page keeps the others, whatever they hold", arguments: ["cursor=old&", ""])
    func next(cursor: String) throws {
        let label = "a&b=c#d%?+ é"
        let text = "?\(cursor)route=x&label=a%26b%3Dc%23d%25%3F%2B%20%C3%A9"
        let target = try query(text).target(replacing: "cursor", with: "new&limit=9")
        let next = try query(String(target.dropFirst("/v1/jobs".count)))
        #expect(next["label"] == label && next["route"] == "x" && next["cursor"] == "new&limit=9")
        #expect(next["limit"] == nil)
    }
}
