import RelayBase
import Synchronization

/// Answers that come one by one, on any thread, for a caller that waits for all of them.
final class Gathered<Value: Sendable>: Sendable {
    private let answers: Mutex<[Int: Result<Value, StoreError>]> = Mutex([:])
    private let count: Int
    private let continuation: CheckedContinuation<[Result<Value, StoreError>], Never>

    init(count: Int, _ continuation: CheckedContinuation<[Result<Value, StoreError>], Never>) {
        self.count = count
        self.continuation = continuation
    }

    func take(_ index: Int, _ answer: Result<Value, StoreError>) {
        let all = answers.withLock { answers in
            answers[index] = answer
            return answers.count == count ? answers : nil
        }
        guard let all else { return }
        continuation.resume(returning: (0..<count).map { all[$0] ?? .failure(.closed) })
    }
}
