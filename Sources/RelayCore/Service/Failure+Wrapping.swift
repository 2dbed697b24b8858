import RelayJSON

// A program's own errors as failures: a failure is taken as it is, so that wrapping never nests.
extension Failure {
    /// A step of preparation threw.
    static func unprepared(_ error: any Error) -> Failure {
        let own = error as? Failure
        var failure = Failure(
            .preparation,
            sent: .neverSent,
            own?.detail ?? "a step of preparation failed with \(type(of: error))"
        )
        failure.underlying = own?.underlying ?? (own == nil ? error : nil)
        return failure
    }

    /// A validator threw.
    static func invalid(_ error: any Error) -> Failure {
        if let failure = error as? Failure { return failure }
        if error is CancellationError { return .givenUp }
        var failure = Failure(
            .invalidResponse,
            sent: .answered,
            "the answer did not pass validation: \(type(of: error))"
        )
        failure.underlying = error
        return failure
    }

    /// A decoder or another transform threw; what it read stands at `container` in the answer.
    static func undecodable(
        as type: Any.Type,
        _ error: any Error,
        below container: JSONPointer? = nil
    ) -> Failure {
        if let failure = error as? Failure { return failure }
        if error is CancellationError { return .givenUp }
        let reason =
            (error as? DecodingError)?.mismatch(below: container?.tokens ?? [])
            ?? "\(Swift.type(of: error))"
        var failure = Failure(
            .decoding,
            sent: .answered,
            "the answer could not be read as \(type): \(reason)"
        )
        failure.underlying = error
        return failure
    }

    /// A closure that looks at an answer threw a `CancellationError`: like a cancelled task, no rule is asked.
    private static let givenUp = Failure(.cancelled, sent: .answered, "the caller gave up on the answer")

    static let callerGone = Failure(.cancelled, sent: .neverSent, "the caller went away")
}

extension HTTPRequest {
    /// Keeps a target below the upstream's base.
    func checkTarget() throws(Failure) {
        let path = target.prefix { $0 != "?" }
        guard !path.hasPrefix("/"), !path.split(separator: "/").contains(where: UpstreamURL.isDotSegment)
        else {
            throw Failure(
                .preparation,
                sent: .neverSent,
                "the target leaves the upstream's base: no slash at its beginning, no \".\" and \"..\" in it"
            )
        }
    }
}
