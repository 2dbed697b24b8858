import RelayBase
import Synchronization

/// Loads one value again and again and keeps the last good one, for whoever shows it.
///
/// Releasing a loader cancels its request and ends every sequence of its states.
public final class Loader<Value: Sendable & Equatable, ServerError: FailureInitializable>: Sendable {
    private struct Content {
        var state = LoadingState<Value, ServerError>.initial
        var task: Task<Void, Never>?
        var observers: [Int: AsyncStream<LoadingState<Value, ServerError>>.Continuation] = [:]
        var begun = 0

        mutating func set(_ new: LoadingState<Value, ServerError>) {
            state = new
            for observer in observers.values { observer.yield(new) }
        }
    }

    private let service: RelayService
    private let request: Request<Value, ServerError>
    private let content = Mutex(Content())

    /// Prepares to load with a request; nothing is sent yet.
    public init(_ request: Request<Value, ServerError>, from service: RelayService) {
        self.service = service
        self.request = request
    }

    deinit {
        let (task, observers) = content.withLock { content in (content.task, content.observers) }
        task?.cancel()
        for observer in observers.values { observer.finish() }
    }

    /// How far it has come.
    public var state: LoadingState<Value, ServerError> { content.withLock { $0.state } }

    /// Begins to load; the last good value stays beside the new state.
    ///
    /// - Returns: false when a request is under way already, and nothing else happens then.
    @discardableResult
    public func startLoading() -> Bool {
        content.withLock { content in
            if content.state.isLoading { return false }
            content.set(.loading(cached: content.state.value))
            // Nothing under way keeps the loader: who releases it ends the request.
            content.task = Task { [weak self, service, request] in
                let result = await service.outcome(of: request).result
                self?.finished(result)
            }
            return true
        }
    }

    /// The state now, and every change of it.
    ///
    /// Each call gives a sequence of its own; it is over when the loader is released or its task is cancelled. An
    /// observer that is slower than the changes gets the newest only.
    public func states() -> LoadingStates<Value, ServerError> {
        let stream = AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let place = content.withLock { content in
                content.begun += 1
                content.observers[content.begun] = continuation
                continuation.yield(content.state)
                return content.begun
            }
            continuation.onTermination = { [weak self] _ in
                self?.content.withLock { $0.observers[place] = nil }
            }
        }
        return LoadingStates(stream: stream)
    }

    /// Sequences of states that somebody still holds.
    package var observerCount: Int { content.withLock { $0.observers.count } }

    private func finished(_ result: Result<Value, ServerError>) {
        content.withLock { content in
            content.task = nil
            switch result {
            case .success(let value): content.set(.success(value))
            case .failure(let error): content.set(.failure(error, cached: content.state.value))
            }
        }
    }
}

/// A loader of a ``PlainRequest``.
public typealias PlainLoader<Value: Sendable & Equatable> = Loader<Value, Failure>

/// The states of a loader, see ``Loader/states()``; never the same twice in a row, whatever an observer has missed.
public struct LoadingStates<Value: Sendable & Equatable, ServerError: FailureInitializable>: AsyncSequence,
    Sendable
{
    /// How far the loader has come.
    public typealias Element = LoadingState<Value, ServerError>
    /// Loading may fail; observing does not.
    public typealias Failure = Never

    let stream: AsyncStream<LoadingState<Value, ServerError>>

    /// Begins with the newest state.
    public func makeAsyncIterator() -> Iterator { Iterator(states: stream.makeAsyncIterator()) }

    /// Takes the states one by one.
    public struct Iterator: AsyncIteratorProtocol {
        var states: AsyncStream<LoadingState<Value, ServerError>>.Iterator
        var last: LoadingState<Value, ServerError>?

        /// The next state that differs from the one before; nil when the loader or the observing task is gone.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> LoadingState<Value, ServerError>? {
            while let state = await states.next(isolation: actor) {
                if state == last { continue }
                last = state
                return state
            }
            return nil
        }

        /// The next state that differs from the one before; nil when the loader or the observing task is gone.
        public mutating func next() async -> LoadingState<Value, ServerError>? { await next(isolation: nil) }
    }
}
