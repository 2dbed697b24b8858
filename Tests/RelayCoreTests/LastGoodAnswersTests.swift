import RelayBase
import RelayCore
import RelayTestSupport
import Testing

@Suite("Last good answers that are kept")
struct LastGoodAnswersTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private func keyed(
        _ target: String = "x",
        _ fields: [(String, String)] = [],
        method: Method = .get,
        body: Body = .empty
    ) -> AnswerKey? {
        AnswerKey(HTTPRequest(method: method, target: target, fields: make(fields), body: body))
    }

    private func make(_ pairs: [(String, String)]) -> HeaderFields {
        var fields = HeaderFields()
        for (name, value) in pairs { fields.append(name, value) }
        return fields
    }

    private func answer(
        _ text: String,
        _ fields: [(String, String)] = [],
        status: Status = 200
    ) -> HTTPResponse {
        HTTPResponse(status: status, fields: make(fields), body: .bytes(Array(text.utf8)))
    }

    private func text(_ response: HTTPResponse?) -> String? {
        response.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(
        "Only a GET without content and without anything personal has kept answers",
        arguments: [
            (.get, [], true), (.get, [("Accept", "a/b"), ("X-Any", "1")], true), (.head, [], false),
            (.post, [], false), (.put, [], false), (.delete, [], false), ("OPTIONS", [], false),
            (.get, [("Authorization", "Bearer a")], false), (.get, [("authorization", "")], false),
            (.get, [("COOKIE", "a=b")], false), (.get, [("Range", "bytes=0-1")], false),
        ] as [(Method, [(String, String)], Bool)]
    )
    func keys(method: Method, fields: [(String, String)], hasKey: Bool) {
        #expect((keyed(fields, method) != nil) == hasKey)
        #expect(keyed("x", body: .bytes([1])) == nil)
    }

    private func keyed(_ fields: [(String, String)], _ method: Method) -> AnswerKey? {
        keyed("x", fields, method: method)
    }

    @Test(
        "Answers are told apart by target and by every field that may change them or be a caller's credential",
        arguments: [
            ([], [], true), ([("User-Agent", "1")], [("User-Agent", "2")], true),
            ([("X-Api-Key", "1")], [("X-Api-Key", "2")], false), ([("X-Api-Key", "1")], [], false),
            ([("B", "1"), ("A", "2")], [("a", "2"), ("b", "1")], true),
            ([("Accept", "a/b")], [("accept", "a/b")], true),
            ([("Accept", "a/b")], [("Accept", "a/c")], false),
            ([("Accept-Language", "de")], [], false), ([("Accept-Encoding", "gzip")], [], false),
            ([("Accept", "de")], [("Accept-Language", "de")], false),
            ([("Accept", "a"), ("Accept", "b")], [("Accept", "b"), ("Accept", "a")], false),
        ] as [([(String, String)], [(String, String)], Bool)]
    )
    func variants(one: [(String, String)], other: [(String, String)], areSame: Bool) {
        #expect((keyed("x", one) == keyed("x", other)) == areSame)
        #expect(keyed("x?a", one) != keyed("x", other))
    }

    @Test(
        "An answer that says that it is not to be kept, or is a part, is not kept",
        arguments: [
            ([], 200, true), ([("Cache-Control", "max-age=5, public")], 200, true), ([], 206, false),
            ([("Cache-Control", "no-store")], 200, false),
            ([("cache-control", "a, NO-STORE ,b")], 200, false),
            ([("Cache-Control", "max-age=5"), ("Cache-Control", "private")], 200, false),
            ([("Cache-Control", "private=\"x\"")], 200, false), ([("Set-Cookie", "a=b")], 200, false),
            ([("Vary", "accept, Accept-Encoding")], 200, true),
            ([("Vary", "Accept, User-Agent")], 200, false),
            ([("Vary", "*")], 200, false), ([("Vary", "Accept"), ("vary", "Traceparent")], 200, false),
            ([("Vary", "Origin, Cookie")], 200, true),
            ([("Vary", "\u{E9}")], 200, false),
        ] as [([(String, String)], UInt16, Bool)]
    )
    func storable(fields: [(String, String)], status: UInt16, isKept: Bool) throws {
        var answers = LastGoodAnswers()
        let key = try #require(keyed())
        answers.keep(answer("a", fields, status: Status(rawValue: status)), for: key, now: at(0))
        #expect((answers.answer(for: key, maxAge: .seconds(10), now: at(1)) != nil) == isKept)
        #expect((answers.bytes > 0) == isKept)
    }

    @Test("An answer that is not to be kept leaves the one before it")
    func refusedKeepsOld() throws {
        var answers = LastGoodAnswers()
        let key = try #require(keyed())
        answers.keep(answer("good"), for: key, now: at(0))
        answers.keep(answer("mine", [("Cache-Control", "private")]), for: key, now: at(1))
        #expect(text(answers.answer(for: key, maxAge: .seconds(10), now: at(2))) == "good")
    }

    @Test(
        "Age counts from the answer's arrival, on top of the age it had; one too old is gone for good",
        arguments: [
            (nil, 0, "0"), (nil, 59, "59"), (nil, 60, nil), ("7", 5, "12"), ("x", 5, "5"), ("-3", 5, "5"),
            ("99999999999999999999", 5, "5"),
        ] as [(String?, Int64, String?)]
    )
    func age(had: String?, second: Int64, expected: String?) throws {
        var answers = LastGoodAnswers()
        let key = try #require(keyed())
        answers.keep(answer("a", had.map { [("Age", $0)] } ?? []), for: key, now: at(0))
        let found = answers.answer(for: key, maxAge: .seconds(60), now: at(second))
        #expect(found?.fields.pairs.filter { $0.name == "Age" }.map(\.value) == expected.map { [$0] })
        if expected == nil {
            #expect(answers.bytes == 0)
            #expect(answers.answer(for: key, maxAge: .seconds(600), now: at(second)) == nil)
        }
    }

    @Test("A newer answer to the same request takes the older one's place, and its bytes")
    func replaced() throws {
        var answers = LastGoodAnswers()
        let key = try #require(keyed())
        answers.keep(answer(String(repeating: "a", count: 1000)), for: key, now: at(0))
        let first = answers.bytes
        answers.keep(answer("b"), for: key, now: at(1))
        #expect(answers.bytes == first - 999)
        #expect(text(answers.answer(for: key, maxAge: .seconds(10), now: at(2))) == "b")
    }

    @Test("Beyond so many answers the one unused longest makes room")
    func number() throws {
        var answers = LastGoodAnswers()
        let keys = try (0...LastGoodAnswers.capacity).map { try #require(keyed("\($0)")) }
        for key in keys.dropLast() { answers.keep(answer("a"), for: key, now: at(0)) }
        #expect(answers.answer(for: keys[0], maxAge: .seconds(10), now: at(1)) != nil)
        answers.keep(answer("new"), for: keys[LastGoodAnswers.capacity], now: at(2))
        let kept = keys.map { answers.answer(for: $0, maxAge: .seconds(10), now: at(3)) != nil }
        #expect(kept[0] && !kept[1] && kept.count(where: { $0 }) == LastGoodAnswers.capacity)
    }

    @Test("Bytes are bounded, for one answer and for all")
    func bytes() throws {
        var answers = LastGoodAnswers()
        let large = HTTPResponse(
            status: 200,
            body: .bytes(Array(repeating: 0, count: LastGoodAnswers.answerLimit))
        )
        answers.keep(large, for: try #require(keyed()), now: at(0))
        #expect(answers.bytes == 0)
        let half = HTTPResponse(
            status: 200,
            body: .bytes(Array(repeating: 0, count: LastGoodAnswers.answerLimit - 100))
        )
        for number in 0..<40 {
            answers.keep(half, for: try #require(keyed("\(number)")), now: at(0))
            #expect(answers.bytes <= LastGoodAnswers.byteLimit)
        }
        let kept = try (0..<40).filter {
            answers.answer(for: try #require(keyed("\($0)")), maxAge: .seconds(9), now: at(1)) != nil
        }
        #expect(kept == Array(24..<40))
    }
}
