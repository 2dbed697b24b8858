public import RelayBase
public import RelayJSON

extension TransportSuccess {
    /// The JSON text at `pointer`.
    ///
    /// - Throws: `empty_response` when there is no content, `decoding` when it is not JSON or has nothing there;
    ///   ``Failure/underlying`` is a `DecodingError`.
    public func content(at pointer: JSONPointer) throws(Failure) -> [UInt8] {
        do throws(Mislaid) {
            return try located(pointer)
        } catch {
            throw error.failure(as: nil)
        }
    }

    /// The value that `decoder` reads at `container`, or from all of the content.
    ///
    /// An empty answer is nil where that is a value; else the decoder is asked about no bytes.
    func value<Value: Decodable>(
        _ type: Value.Type,
        _ decoder: some ContentDecoder,
        at container: JSONPointer?
    ) throws(Failure) -> Value {
        var bytes = response.bytes
        if bytes.isEmpty, let none = nothing(as: type) { return none }
        if let container {
            do throws(Mislaid) {
                bytes = try located(container)
            } catch {
                throw error.failure(as: type)
            }
        }
        do {
            return try decoder.decodeContent(type, from: bytes)
        } catch {
            guard response.bytes.isEmpty else { throw .undecodable(as: type, error, below: container) }
            throw .empty(as: type, error)
        }
    }

    private func located(_ pointer: JSONPointer) throws(Mislaid) -> [UInt8] {
        let bytes = skippingByteOrderMark(response.bytes)
        guard !bytes.isEmpty else { throw Mislaid(.emptyResponse, "is empty", .broken(nil)) }
        let found: Range<Int>?
        do throws(JSONError) {
            found = try JSONScan.locate([pointer], in: bytes.span)[0]
        } catch {
            throw Mislaid(.decoding, error.trouble, .broken(error))
        }
        guard let found else {
            throw Mislaid(.decoding, "has nothing at \(pointer.text)", .missing(pointer))
        }
        return Array(bytes[found])
    }
}

/// The reason why a place in an answer could not be found.
private struct Mislaid: Error {
    enum Reason {
        case broken(JSONError?)
        case missing(JSONPointer)
    }

    let kind: FailureKind
    let text: String
    let reason: Reason

    init(_ kind: FailureKind, _ text: String, _ reason: Reason) {
        self.kind = kind
        self.text = text
        self.reason = reason
    }

    func failure(as type: Any.Type?) -> Failure {
        if let type, kind == .emptyResponse { return .empty(as: type, underlying) }
        let what = type.map { "the answer could not be read as \($0): it \(text)" } ?? "the answer \(text)"
        var failure = Failure(kind, sent: .answered, what)
        failure.underlying = underlying
        failure.wantedType = type
        return failure
    }

    /// The error of a decoder for the same.
    private var underlying: DecodingError {
        switch reason {
        case .broken(let error):
            let context = DecodingError.Context(
                codingPath: [],
                debugDescription: text,
                underlyingError: error
            )
            return .dataCorrupted(context)
        case .missing(let pointer):
            let path = pointer.tokens.map(PointerKey.init)
            let context = DecodingError.Context(codingPath: path.dropLast(), debugDescription: text)
            return .keyNotFound(path.last ?? PointerKey(""), context)
        }
    }
}

/// A step of a pointer, for those who read a `DecodingError`.
private struct PointerKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ token: String) { stringValue = token }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// The nil of a type that has one; nothing for any other.
private func nothing<Value>(as type: Value.Type) -> Value? {
    guard let optional = type as? any ExpressibleByNilLiteral.Type else { return nil }
    return none(of: optional) as? Value
}

private func none<Value: ExpressibleByNilLiteral>(of type: Value.Type) -> Value { nil }

/// An answer that counts as a success, with the request that produced it.
public struct TransportSuccess: Sendable {
    /// The request as it was before any per-attempt preparation.
    public let request: HTTPRequest
    /// The answer, its content in memory.
    public let response: HTTPResponse
    /// The service's own.
    var decoder: (any ContentDecoder)?

    /// Pairs an answer with its request.
    public init(request: HTTPRequest, response: HTTPResponse) {
        self.request = request
        self.response = response
    }
}

/// The description of an attempt that did not succeed; ``Failure/response`` is the answer, where there was one.
public typealias TransportFailure = Failure
