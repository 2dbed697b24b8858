import RelayKit
import RelayTestSupport
import Testing

@Suite("Two loading states as one")
struct LoadingStateTests {
    typealias State = PlainLoadingState<String>

    static let one = Failure(.httpStatus, sent: .answered, "one")
    static let two = Failure(.decoding, sent: .answered, "two")

    struct Row: Sendable, CustomTestStringConvertible {
        let left: State
        let right: State
        let both: State
        var testDescription: String { "\(left) + \(right)" }
    }

    static let rows: [Row] = [
        Row(left: .initial, right: .initial, both: .initial),
        Row(left: .initial, right: .success("b"), both: .initial),
        Row(left: .success("a"), right: .success("b"), both: .success("ab")),
        Row(left: .loading(cached: nil), right: .initial, both: .loading(cached: nil)),
        Row(left: .loading(cached: "a"), right: .success("b"), both: .loading(cached: "ab")),
        Row(left: .loading(cached: nil), right: .success("b"), both: .loading(cached: nil)),
        Row(left: .loading(cached: "a"), right: .loading(cached: "b"), both: .loading(cached: "ab")),
        Row(left: .loading(cached: "a"), right: .loading(cached: nil), both: .loading(cached: nil)),
        Row(left: .loading(cached: "a"), right: .failure(two, cached: "b"), both: .loading(cached: "ab")),
        Row(left: .failure(one, cached: "a"), right: .success("b"), both: .failure(one, cached: "ab")),
        Row(left: .failure(one, cached: nil), right: .initial, both: .failure(one, cached: nil)),
        Row(
            left: .failure(one, cached: "a"),
            right: .failure(two, cached: nil),
            both: .failure(one, cached: nil)
        ),
    ]

    @Test(
        "Loading wins over failed, failed over initial, initial over success; values meet or are gone",
        .clauses("T-109"),
        arguments: rows
    )
    func merged(row: Row) {
        #expect(row.left.merged(with: row.right) { $0 + $1 } == row.both)
        #expect(row.right.merged(with: row.left) { $1 + $0 } == row.both)
    }

    @Test("Of two failures the first is kept, and one alone whichever side it is on", .clauses("T-109"))
    func failure() {
        func detail(_ left: State, _ right: State) -> String? {
            guard case .failure(let failure, _) = left.merged(with: right, { $0 + $1 }) else { return nil }
            return failure.detail
        }
        #expect(detail(.failure(Self.one, cached: nil), .failure(Self.two, cached: nil)) == "one")
        #expect(detail(.success("a"), .failure(Self.two, cached: nil)) == "two")
    }

    @Test("States differ by stage and value, not by failure", .clauses("T-108"))
    func equality() {
        let states: [State] = [
            .initial, .loading(cached: nil), .loading(cached: "a"), .loading(cached: "b"), .success("a"),
            .success("b"), .failure(Self.one, cached: nil), .failure(Self.one, cached: "a"),
        ]
        for (left, state) in states.enumerated() {
            for (right, other) in states.enumerated() { #expect((state == other) == (left == right)) }
        }
        #expect(State.failure(Self.one, cached: "a") == .failure(Self.two, cached: "a"))
    }
}
