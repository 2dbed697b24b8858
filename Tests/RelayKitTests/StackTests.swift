import Glibc
import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("The stack under a job", .timeLimit(.minutes(5)))
struct StackTests {
    /// A place on a stack: tasks change their threads, and each thread has a stack of its own.
    private struct Place {
        let thread: pthread_t
        let address: Int
    }

    /// Where the frame of this call lies.
    @inline(never)
    private static func place() -> Place {
        var local = 0
        let address = unsafe withUnsafeMutablePointer(to: &local) { Int(bitPattern: $0) }
        return Place(thread: pthread_self(), address: address)
    }

    /// The most bytes between two places of one stack.
    private static func spread(_ places: [Place]) -> Int {
        Dictionary(grouping: places, by: \.thread).values
            .map { places in
                let addresses = places.map(\.address)
                return (addresses.max() ?? 0) - (addresses.min() ?? 0)
            }
            .max() ?? 0
    }

    @Test(
        "However many attempts a job makes, its stack stays as it was in the first",
        .clauses("N-10"),
        arguments: [
            (.fail(.connectionRefused, .neverSent), 100), (.answer(503), 100),
        ] as [(ScriptedTransport.Step, Int)]
    )
    func attempts(step: ScriptedTransport.Step, count: Int) async throws {
        let places = Mutex<(sending: [Place], asked: [Place])>(([], []))
        let bench = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                $0.maxAttempts = 100
                $0.timeouts.total = .seconds(86_400)
                $0.recovery = [
                    .strategy(
                        Advice { _, request, _ in
                            let place = Self.place()
                            places.withLock { $0.asked.append(place) }
                            return .retry(request, after: .zero)
                        }
                    )
                ]
            },
            answer: { _ in
                let place = Self.place()
                places.withLock { $0.sending.append(place) }
                return step
            }
        )
        let outcome = await bench.service.outcome(of: .plain())
        #expect(outcome.failure != nil)
        let (sending, asked) = places.withLock { ($0.sending, $0.asked) }
        #expect(sending.count == count && asked.count == count)
        #expect(Self.spread(sending) < 4_096 && Self.spread(asked) < 4_096)
    }
}
