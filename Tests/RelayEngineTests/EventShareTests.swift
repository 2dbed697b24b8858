import RelayCore
import RelayEngine
import RelayJobs
import Testing

@Suite("The share of a feed that other daemons are told of")
final class EventShareTests {
    private let feed = EventFeed(capacity: 4)
    private var share = EventShare()

    private func happen(_ count: Int) {
        for _ in 0..<count { feed.heard(.routeResumed(route: "r"), at: 7) }
    }

    /// The numbers of the events that are told of, and how many are told to be gone.
    private func told(_ kinds: Set<EventKind>) -> [String] {
        let (lost, events) = share.news(of: kinds, in: feed, limit: 10)
        let gap = lost.map { String(decoding: $0.data, as: UTF8.self) }
        return [gap].compactMap(\.self) + events.map { "\($0.number)" }
    }

    @Test("Each event once, and how many are gone, also when another kind is wanted as well from then on")
    func gone() {
        happen(2)
        #expect(told([.routeResumed]) == ["1", "2"])
        #expect(told([.routeResumed]) == [])
        happen(6)
        #expect(told([.routeResumed, .routePaused]) == [#"{"lost":2}"#, "5", "6", "7", "8"])
        #expect(told([.routeResumed, .routePaused]) == [])
        happen(5)
        #expect(told([.routeResumed]) == [#"{"lost":1}"#, "10", "11", "12", "13"])
    }

    @Test("Nobody has missed what went while nobody wanted it")
    func unwanted() {
        happen(2)
        #expect(told([.routeResumed]) == ["1", "2"])
        #expect(told([]) == [])
        happen(6)
        #expect(told([.routeResumed]) == ["5", "6", "7", "8"])
    }
}
