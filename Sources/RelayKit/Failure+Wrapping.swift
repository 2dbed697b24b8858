import RelayBase
import RelayJSON
import RelayRoute

// A program's own errors as failures: a failure is taken as it is, so that wrapping never nests.
extension Failure {
    /// A step of preparation threw.
    static func unprepared(_ error: any Error) -> Failure {
        let own = error as? Failure
        var failure = Failure.preparation(
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
        failure.wantedType = type
        return failure
    }

    /// An answer has no content where a decoder wants some.
    static func empty(as type: Any.Type, _ error: any Error) -> Failure {
        var failure = Failure(.emptyResponse, sent: .answered, "the answer is empty where \(type) is wanted")
        failure.underlying = error
        failure.wantedType = type
        return failure
    }

    /// A closure that looks at an answer threw a `CancellationError`: like a cancelled task, no rule is asked.
    private static let givenUp = Failure(.cancelled, sent: .answered, "the caller gave up on the answer")
}

extension HTTPRequest {
    /// Keeps a program from writing the field that its service's credential writes.
    func checkCredential(_ authentication: Authentication) throws(Failure) {
        guard fields.contains(authentication.fieldName) else { return }
        throw .preparation(
            "the request has a field \(authentication.headerName) of its own, and the policy's credential"
                + " \"\(authentication.credential)\" writes that one: leave one of them out"
        )
    }

    /// Keeps a target below the upstream's base.
    func checkTarget() throws(Failure) {
        guard mayLeadElsewhere else { return }
        let start = target.prefix(8).lowercased()
        guard !start.hasPrefix("http://"), start != "https://" else {
            throw .preparation(
                "the target is an absolute URL: give the path below the upstream's base, such as \"orders/7\";"
                    + " another server is another upstream"
            )
        }
        let path = target.prefix { $0 != "?" }
        guard !path.hasPrefix("/"), !path.split(separator: "/").contains(where: UpstreamURL.isDotSegment)
        else {
            throw .preparation(
                "the target leaves the upstream's base: no slash at its beginning, no \".\" and \"..\" in it"
            )
        }
    }

    /// Whether a target has to be read at length: most have nothing that an absolute URL or a dot segment needs.
    private var mayLeadElsewhere: Bool {
        if target.utf8.first == UInt8(ascii: "/") { return true }
        for byte in target.utf8 {
            switch byte {
            case UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "%"): return true
            case UInt8(ascii: "?"): return false
            default: continue
            }
        }
        return false
    }
}
