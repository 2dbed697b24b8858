import Glibc
import Testing

@Suite("Rehearsed nights", .serialized, .timeLimit(.minutes(60)))
struct RehearsedNightsTests {
    /// Nights that are played; `RELAY_NIGHTS` asks for more, and prints what came of them.
    private static let asked = unsafe getenv("RELAY_NIGHTS").flatMap { unsafe UInt64(String(cString: $0)) }
    /// Some in which there is each of the counts, and one in which guesses are wrong; so many in a row where somebody asks.
    private static let seeds = asked.map { Array(1...max(1, $0)) } ?? [4, 13]
    private static let guessed = asked == nil ? [15] : seeds

    private struct Sums {
        var would = 0
        var wouldNot = 0
        var wrong = 0
        var unknown = 0

        init(isProtected: Bool, guesses: Bool = false, unrecorded: Int = 0) throws {
            for seed in guesses ? RehearsedNightsTests.guessed : RehearsedNightsTests.seeds {
                let night = try RehearsedNight(
                    seed: seed,
                    isProtected: isProtected,
                    guesses: guesses,
                    unrecorded: unrecorded,
                    isBrief: RehearsedNightsTests.asked == nil
                )
                #expect(night.rate >= 10)
                would += night.would
                wouldNot += night.wouldNot
                wrong += night.wrong
                unknown += night.unknown
                if RehearsedNightsTests.asked != nil {
                    print("\(isProtected) \(guesses) \(unrecorded) night \(seed): \(night); all: \(self)")
                }
            }
            #expect(guesses || would > 0 && wouldNot > 0)
        }

        /// At most one job in a hundred is told wrongly, and of three in ten it cannot be known.
        var holds: Bool {
            let told = would + wouldNot
            return wrong * 100 <= told && unknown * 10 <= (told + unknown) * 3
        }
    }

    @Test(
        "are told wrongly of one job in a hundred at most, and cannot be known of three in ten",
        arguments: [false, true]
    )
    func nights(isProtected: Bool) throws {
        let sums = try Sums(isProtected: isProtected)
        #expect(sums.holds, "\(sums)")
    }

    @Test(
        "are so where half of the requests that succeeded at once are on no record",
        .enabled(if: asked != nil)
    )
    func unrecorded() throws {
        let sums = try Sums(isProtected: true, unrecorded: 50)
        #expect(sums.holds, "\(sums)")
    }

    @Test("are told wrongly of more where the nearest attempt on record is taken, however far away")
    func guessing() throws {
        let sums = try Sums(isProtected: false, guesses: true)
        #expect(!sums.holds, "\(sums)")
    }
}
