import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayEngine

@Suite("The part that one caller takes of what all share", .timeLimit(.minutes(1)))
struct CallerShareTests {
    private func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(by: .seconds(seconds)) }

    /// Begins a request, which ends at once where it may not go on.
    private func refusal(
        _ share: CallerShare,
        _ limits: CallerLimits,
        _ now: Instant
    ) -> (bound: CallerBound, wait: Duration)? {
        let refusal = share.refusal(share.begin(), limits, now)
        if refusal != nil { share.end() }
        return refusal
    }

    @Test("Refusals are told of at once, and then once a minute")
    func tally() {
        var tally = RefusalTally()
        #expect(tally.take(at(0)) == nil)
        tally.refused()
        #expect(tally.take(at(0)) == 1 && !tally.isSettled(at(59)) && tally.isSettled(at(60)))
        for second in 1..<60 {
            for _ in 0..<100 { tally.refused() }
            #expect(tally.take(at(second)) == nil)
        }
        #expect(tally.take(at(60)) == 5_900 && tally.take(at(200)) == nil)
        for _ in 0..<2 { tally.refused() }
        #expect(!tally.isSettled(at(200)) && tally.take(at(200)) == 2 && tally.total == 5_903)
    }

    @Test("Requests under way and their rate have bounds, and a refusal takes nothing of either")
    func bounds() {
        let share = CallerShare(user: 1)
        var limits = CallerLimits()
        limits.maxRequests = 2
        limits.rate = RateLimitSettings(maxRequests: 1, per: .seconds(10), burst: 3)
        func begin(_ second: Int) -> CallerBound? { refusal(share, limits, at(second))?.bound }
        #expect([begin(0), begin(0), begin(0)] == [nil, nil, .requests] && share.requests == 2)
        share.end()
        #expect(begin(0) == nil)
        share.end()
        let refused = refusal(share, limits, at(4))
        #expect(refused?.bound == .rate && refused?.wait == .seconds(6) && share.requests == 1)
        #expect(begin(10) == nil && share.requests == 2)
        #expect(share.refusals.mapValues(\.total) == [.requests: 1, .rate: 1])
    }

    @Test("Bytes are counted as long as anybody holds them")
    func bytes() {
        let (share, account) = (CallerShare(user: 1), MemoryAccount(limit: 1 << 20))
        var limits = CallerLimits()
        limits.maxBytes = 100_000
        var hold = account.reserve(90_000)
        hold?.charge(to: share)
        #expect(share.bytes == 90_000 && hold?.isOver(limits) == false)
        hold?.grow(by: 20_000)
        #expect(share.bytes == 110_000 && hold?.isOver(limits) == true)
        hold?.shrink(to: 30_000)
        #expect(share.bytes == 30_000 && hold?.isOver(limits) == false)
        hold = nil
        #expect(share.bytes == 0 && share.refusals[.bytes]?.total == 1)
    }

    @Test("A caller is forgotten when nothing is left of it, and not while that would let it go faster")
    func forgotten() {
        let shares = CallerShares()
        var limits = CallerLimits()
        limits.rate = RateLimitSettings(maxRequests: 1, per: .seconds(100))
        let share = shares.enter(1)
        #expect(shares.enter(1) === share && shares.standings.map(\.connections) == [2])
        #expect(refusal(share, limits, at(0)) == nil)
        shares.release(share)
        shares.release(share)
        #expect(refusal(share, limits, at(1))?.bound == .rate)
        let told = shares.look(at(1))
        #expect(told.map(\.count) == [1] && told.first?.bound == .rate && told.first?.user == 1)
        _ = shares.look(at(90))
        #expect(shares.standings.count == 1)
        share.end()
        _ = shares.look(at(90))
        #expect(shares.standings.count == 1)
        _ = shares.look(at(101))
        #expect(shares.standings.isEmpty)
    }
}
