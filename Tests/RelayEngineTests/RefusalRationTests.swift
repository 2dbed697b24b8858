import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import Testing

@Suite("Refused requests among the events")
struct RefusalRationTests {
    private func refused(_ user: UInt32?) -> JobEvent {
        .requestRefused(
            RefusedRequest(
                route: "r",
                method: .post,
                path: "/long",
                client: user.map { ClientIdentity(user: $0, process: 1, groups: [], unit: nil) },
                status: 415,
                code: "unsupported_media_type",
                detail: "no"
            )
        )
    }

    private func users(_ feed: EventFeed) -> [UInt32?] {
        feed.events(after: 0, limit: 1_000).events.map(\.event.user)
    }

    @Test("Five of one user are told in a minute, and it leaves the others theirs")
    func ofOneUser() {
        let feed = EventFeed()
        for _ in 0..<100 { feed.heard(refused(7), at: 0) }
        feed.heard(refused(8), at: 59_999)
        feed.heard(refused(nil), at: 59_999)
        #expect(users(feed) == [7, 7, 7, 7, 7, 8, nil])
        feed.heard(refused(7), at: 60_000)
        #expect(users(feed).count == 8)
    }

    @Test("Fifty of all are told in a minute, and everything else as ever")
    func ofAll() {
        let feed = EventFeed()
        for user in 0..<200 as Range<UInt32> { feed.heard(refused(user), at: 0) }
        #expect(users(feed).count == 50)
        feed.heard(.notice(.configReloaded), at: 0)
        #expect(users(feed).count == 51)
    }

    @Test("A path, which its caller makes as long as it likes, is not held with the refusal")
    func path() {
        let feed = EventFeed()
        feed.heard(refused(7), at: 0)
        for told in feed.events(after: 0, limit: 1).events {
            guard case .requestRefused(let refused) = told.event else { continue }
            #expect(refused.path.isEmpty && refused.status == 415)
        }
        #expect(users(feed) == [7])
    }
}
