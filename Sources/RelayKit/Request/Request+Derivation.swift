public import RelayBase
import RelayCore

extension Request {
    /// The same request with its value transformed; runs only after a success.
    ///
    /// - Parameter transform: an error it throws is a failure of the kind `decoding`, offered to the rules.
    /// - Returns: a request whose value is the transformed one.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Response) throws -> Other
    ) -> Request<Other> {
        map { value, _ in try transform(value) }
    }

    /// The same request with its value transformed, given the exchange it came from as well.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Response, TransportSuccess) throws -> Other
    ) -> Request<Other> {
        let inner = self.transform
        var derived = Request<Other>(http) { success in try transform(try inner(success), success) }
        derived.options = options
        derived.preparation = preparation
        derived.quickRecovery = quickRecovery
        derived.successValidator = successValidator
        derived.validatesQuickRecovery = validatesQuickRecovery
        derived.errorDocument = errorDocument
        derived.classify = classify
        derived.mapFailure = mapFailure
        derived.contentMediaType = contentMediaType
        derived.headerFlaw = headerFlaw
        derived.pathFlaw = pathFlaw
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
    public func withTransportSuccess() -> Request<(Response, TransportSuccess)> {
        map { value, success in (value, success) }
    }

    /// The same request, whose caller gets other failures: `transform` sees every failure of every stage once, at the
    /// very end.
    ///
    /// The rules see the failures as they were; ``classify`` is what changes those.
    public func throwing(_ transform: @escaping @Sendable (Failure) -> Failure) -> Request {
        var derived = self
        let inner = mapFailure
        derived.mapFailure = { transform(inner($0)) }
        return derived
    }

    /// The same request, of which that becomes while the network is constrained, where it sends less than the service's
    /// policy says.
    public func constrained(_ use: ConstrainedUse) -> Request {
        var derived = self
        derived.options.constrained = use
        return derived
    }

    /// The same request, in whose place `light` is sent while the network is constrained, unless the service's policy
    /// sends nothing then.
    ///
    /// It is the same request in all else: its key, its credential and its method.
    public func constrained(_ light: LightRequest) -> Request {
        var derived = self
        (derived.options.constrained, derived.options.lightRequest) = (.light, light)
        return derived
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
        if let old = contentMediaType, http.fields.values(.contentType) == [old] {
            derived.http.fields.remove(.contentType)
        }
        derived.take([:], content.mediaType)
        return derived
    }
}

extension Request {
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
