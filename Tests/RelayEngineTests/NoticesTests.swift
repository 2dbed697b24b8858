import RelayBase
import RelayCore
import RelayEngineBench
import RelayJobs
import RelayRoute
import RelayTesting
import Testing

@testable import RelayEngine

@Suite("The routes that tell others how their jobs end")
struct NoticesTests {
    @Test("A route that tells nobody any more is told of once, until it has told again")
    func waived() {
        let snapshot = EngineBench.snapshot()
        let engine = Engine(snapshot: snapshot, time: VirtualTime(), entropy: SeededEntropy())
        let audience = Listeners(engine, feed: EventFeed())
        let notices = Notices(audience, audience.announcer(and: [])) { _, _ in [] }
        func wishes(_ route: String, _ state: JobState) -> String {
            switch notices.maker.wish(route, state) {
            case .nothing: "nothing"
            case .owed: "owed"
            case .notice: "notice"
            }
        }
        func told() -> [String] { notices.takeWaived().map { "\($0.route) \($0.count)" } }
        #expect(told().isEmpty)
        for _ in 0..<2 { #expect(wishes("up", .dead) == "nothing") }
        #expect(told() == ["up 2"])
        #expect(wishes("up", .dead) == "nothing" && told().isEmpty)
        // A route that is gone may come back.
        #expect(wishes("gone", .dead) == "owed" && told().isEmpty)
        var settings = NoticeSettings()
        (settings.route, settings.endings) = ("outcomes", [.dead])
        engine.install(EngineBench.snapshot { $0.delivery.notices = settings })
        #expect(wishes("up", .dead) == "owed")
        // An ending that is none of those that are told is nobody's loss.
        #expect(wishes("up", .succeeded) == "nothing" && told().isEmpty)
        settings.route = "up"
        engine.install(EngineBench.snapshot { $0.delivery.notices = settings })
        #expect(wishes("up", .dead) == "notice")
        engine.install(EngineBench.snapshot())
        #expect(wishes("up", .dead) == "nothing")
        #expect(told() == ["up 1"])
    }
}
