import RelayBase
import RelayPosix

/// One look-up of a name, which is waited for until a deadline.
final class NameWait {
    /// How long a new answer is waited for where an old one is known, in nanoseconds.
    private static let renewalLimit: Int64 = 500_000_000

    private let loop: EventLoop
    private let timer = LoopTimer {}
    private var continuation: CheckedContinuation<Result<[IPAddress], NameError>?, Never>?
    private var answer: Result<[IPAddress], NameError>?

    private init(_ loop: EventLoop) { self.loop = loop }

    /// The answer; nil where none came in time.
    static func lookUp(
        _ host: String,
        _ resolver: NameResolver,
        on loop: EventLoop,
        until deadline: Int64
    ) async -> Result<[IPAddress], NameError>? {
        let wait = NameWait(loop)
        let known = resolver.lookUp(host) { [box = LoopBound(wait, loop), loop] answer in
            loop.execute { box.value.finish(answer) }
        }
        if let known { return known }
        let old = resolver.outdated(host)
        let limit = old == nil ? deadline : min(deadline, loop.currentTime() &+ renewalLimit)
        let answer = await withCheckedContinuation { continuation in
            wait.continuation = continuation
            wait.timer.action = { [unowned wait] in wait.finish(nil) }
            loop.schedule(wait.timer, at: limit)
        }
        return answer ?? old.map { .success($0) }
    }

    private func finish(_ answer: Result<[IPAddress], NameError>?) {
        loop.cancel(timer)
        let continuation = continuation
        self.continuation = nil
        continuation?.resume(returning: answer)
    }
}
