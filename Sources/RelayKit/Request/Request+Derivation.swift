public import RelayBase
import RelayCore

extension Request {
    /// The same request with its value transformed; runs only after a success.
    ///
    /// - Parameter transform: an error it throws is a failure of the kind `decoding`, offered to the rules.
    /// - Returns: a request whose value is the transformed one.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Response) throws -> Other
    ) -> Request<Other, ServerError> {
        map { value, _ in try transform(value) }
    }

    /// The same request with its value transformed, given the exchange it came from as well.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Response, TransportSuccess) throws -> Other
    ) -> Request<Other, ServerError> {
        let inner = self.transform
        var derived = Request<Other, ServerError>(http) { success in
            try transform(try inner(success), success)
        }
        derived.takeSettings(of: self)
        derived.makeError = makeError
        let placeholder = placeholder
        derived.placeholder = { failure in
            guard let value = placeholder(failure) else { return nil }
            let response = failure.response ?? HTTPResponse(status: 200)
            let http = failure.request ?? HTTPRequest(method: .get, target: "")
            return try? transform(value, TransportSuccess(request: http, response: response))
        }
        return derived
    }

    /// The same request, whose value comes with the exchange it was read from.
    public func withTransportSuccess() -> Request<(Response, TransportSuccess), ServerError> {
        map { value, success in (value, success) }
    }

    /// The same request, whose caller gets an error of another type, made of the failure of whatever stage.
    public func throwing<Other: FailureInitializable>(_ type: Other.Type) -> Request<Response, Other> {
        withError { Other.made(of: $0) }
    }

    /// The same request, whose caller gets another error: `transform` sees that of every stage once, at the very end.
    ///
    /// The rules see the failures as they were; ``classify`` is what changes those.
    public func throwing<Other: FailureInitializable>(
        _ transform: @escaping @Sendable (ServerError) -> Other
    ) -> Request<Response, Other> {
        let inner = makeError ?? { ServerError.made(of: $0) }
        return withError { transform(inner($0)) }
    }

    /// The same request with more header fields; one of the same name is replaced.
    public func addingHeaders(_ headers: Pairs<String>) -> Request {
        var derived = self
        for (name, value) in headers {
            let wasSet = derived.http.fields.set(name, value)
            derived.check(wasSet, name)
            if FieldName(name) == .contentType { derived.contentMediaType = nil }
        }
        return derived
    }

    /// The same request with no header fields but these and its content's media type, unless they say another.
    public func usingHeaders(_ headers: Pairs<String>) -> Request {
        var derived = self
        derived.http.fields = HeaderFields()
        derived.headerFlaw = nil
        derived.take(headers, contentMediaType)
        return derived
    }

    /// The same request to another target below the upstream's base.
    public func usingTarget(_ path: RequestPath, query: Pairs<String?> = [:]) -> Request {
        var derived = self
        derived.http.target = HTTPRequest.target(path.text, query: query)
        derived.pathFlaw = path.flaw
        return derived
    }

    /// The same request with other content; its media type takes the place of the last content's, unless a header says
    /// another.
    public func usingContent(_ content: Content) -> Request {
        var derived = self
        derived.http.body = content.body
        derived.encoding = ContentEncoding(content)
        if let old = contentMediaType, http.fields.values(.contentType) == [old] {
            derived.http.fields.remove(.contentType)
        }
        derived.take([:], content.mediaType)
        return derived
    }
}

extension Request where ServerError == Failure {
    /// The same request, whose caller gets other failures: `transform` sees that of every stage once, at the very end.
    ///
    /// The rules see the failures as they were; ``classify`` is what changes those.
    public func throwing(_ transform: @escaping @Sendable (Failure) -> Failure) -> Request {
        var derived = self
        let inner = mapFailure
        derived.mapFailure = { transform(inner($0)) }
        return derived
    }
}

extension Request {
    /// The error that a caller gets for a failure, once `mapFailure` has seen that.
    func error(of failure: Failure) -> ServerError {
        if let makeError { return makeError(failure) }
        return ServerError.made(of: failure)
    }

    /// Throws why the request cannot be sent.
    func checkFlaws() throws(Failure) {
        if let flaw = headerFlaw ?? pathFlaw ?? contentFlaw { throw flaw }
    }

    private func withError<Other: FailureInitializable>(
        _ make: @escaping @Sendable (Failure) -> Other
    ) -> Request<Response, Other> {
        var derived = Request<Response, Other>(http, transform: transform)
        derived.takeSettings(of: self)
        derived.placeholder = placeholder
        derived.makeError = make
        return derived
    }

    /// Takes everything that has nothing to do with the types of value and error.
    private mutating func takeSettings<Value, Problem>(of other: Request<Value, Problem>) {
        options = other.options
        preparation = other.preparation
        quickRecovery = other.quickRecovery
        successValidator = other.successValidator
        validatesQuickRecovery = other.validatesQuickRecovery
        errorDocument = other.errorDocument
        classify = other.classify
        mapFailure = other.mapFailure
        contentMediaType = other.contentMediaType
        encoding = other.encoding
        headerFlaw = other.headerFlaw
        pathFlaw = other.pathFlaw
        contentFlaw = other.contentFlaw
    }

    /// Adds header fields, and what the content is unless one of them says it.
    mutating func take(_ headers: Pairs<String>, _ mediaType: String?) {
        for (name, value) in headers {
            let wasAdded = http.fields.append(name, value)
            check(wasAdded, name)
        }
        contentMediaType = nil
        guard let mediaType, !http.fields.contains(.contentType) else { return }
        contentMediaType = mediaType
        let wasAdded = http.fields.append("Content-Type", mediaType)
        check(wasAdded, "Content-Type")
    }

    /// Left out, a field would be missing from what is sent without a word: a credential for example.
    private mutating func check(_ wasTaken: Bool, _ name: String) {
        if wasTaken { return }
        headerFlaw = Failure.preparation(
            FieldName(name) == nil
                ? "a header's name is no token (RFC 9110 §5.6.2)"
                : "the header \(name) has a control character in its value: take away line ends around it"
        )
    }
}
