/// An upstream's word when it is asked what became of a request, or of an operation that it has begun.
public enum LookUp: String, CaseIterable, Sendable {
    /// The request was carried out.
    case found
    /// It was not carried out.
    case absent
    /// Neither, or the upstream could not be asked.
    case unclear
    /// The operation goes on.
    case running
    /// It has come to its end, of which a failure could not fetch the result.
    case done
    /// It has failed.
    case failed
    /// The upstream has it no more.
    case gone
    /// The upstream did not say, or could not be asked.
    case unanswered
    /// It was told to stop the operation of a job that was cancelled.
    case told
    /// The same could not be said to it, or it would not take it.
    case untold
}

extension Attempt {
    /// The upstream's word, of an attempt that asked for one or has begun an operation.
    package var word: LookUp {
        if let lookUp { return lookUp }
        if case .follow? = next { return .running }
        return .unclear
    }
}

extension LookUp {
    /// Those of a request in doubt (`verify`).
    package static let ofRequests: [LookUp] = [.found, .absent, .unclear]
    /// Those of an operation (`follow`).
    package static let ofOperations: [LookUp] = [.running, .done, .failed, .gone, .unanswered]
    /// Those of the end of one (`follow.cancel`).
    package static let ofStops: [LookUp] = [.told, .untold]
}
