import RelayBase
import RelayRoute
import Synchronization

/// Content that is collected and has to come at some pace; of an answer whose length nobody knows, of any other its
/// transport sees to that.
final class PacedBody: BodySource {
    private let source: any BodySource
    private let floor: RateFloor
    private let time: any TimeSource
    private let pace = Mutex(TransferPace())

    init(_ source: any BodySource, _ timeouts: Timeouts, _ time: any TimeSource) {
        self.source = source
        floor = RateFloor(timeouts)
        self.time = time
    }

    var length: UInt64? { source.length }
    var wasRead: Bool { source.wasRead }

    func next() async throws(Failure) -> [UInt8]? {
        let began = time.now()
        guard let piece = try await source.next() else { return nil }
        let wait = began.duration(to: time.now()).saturatedNanoseconds
        guard pace.withLock({ $0.isTooSlow(piece.count, after: wait, floor) }) else { return piece }
        source.cancel()
        throw Failure(
            .connectionReadTimeout,
            sent: .unknown,
            "the response body came at less than \(TimeLimit.minRate(floor))"
        )
    }

    func cancel() { source.cancel() }

    func bound(by deadline: Instant) { source.bound(by: deadline) }
}
