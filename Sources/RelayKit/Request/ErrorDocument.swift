public import RelayBase
public import RelayJSON

/// An upstream's own description of what went wrong, recognised by its place in the content on any status.
///
/// A document that is there makes the answer a failure of the kind `api_error`, a 200 included; the failure keeps the
/// status. One that is not there, or is `null`, says nothing.
public struct ErrorDocument: Sendable {
    let read: @Sendable (HTTPResponse, (any ContentDecoder)?) -> Failure?

    /// Recognises a document by a value that `decoder` reads at `pointer`; what cannot be read is no document.
    ///
    /// - Parameters:
    ///   - type: becomes ``Failure/underlying``.
    ///   - pointer: where the document stands; only what stands there is decoded.
    ///   - decoder: reads it.
    public init<Document: Decodable & Error>(
        _ type: Document.Type,
        at pointer: JSONPointer,
        decoder: some ContentDecoder
    ) {
        self.init { (response, _) -> Document? in
            guard let bytes = ErrorDocument.document(in: response, at: pointer) else { return nil }
            return try? decoder.decodeContent(type, from: bytes)
        }
    }

    /// Recognises a document by a value that the service's decoder reads at `pointer` where it has one, and `decoder`
    /// where it has none.
    package init<Document: Decodable & Error>(
        _ type: Document.Type,
        at pointer: JSONPointer,
        unlessServiceHas decoder: some ContentDecoder
    ) {
        self.init { (response, own) -> Document? in
            guard let bytes = ErrorDocument.document(in: response, at: pointer) else { return nil }
            guard let own else { return try? decoder.decodeContent(type, from: bytes) }
            return try? own.decodeContent(type, from: bytes)
        }
    }

    /// The JSON text at that place, unless it is `null`.
    private static func document(in response: HTTPResponse, at pointer: JSONPointer) -> [UInt8]? {
        let bytes = skippingByteOrderMark(response.bytes)
        guard !bytes.isEmpty, let found = try? JSONScan.locate([pointer], in: bytes.span),
            let range = found[0],
            !bytes[range].elementsEqual("null".utf8)
        else { return nil }
        return Array(bytes[range])
    }

    /// Recognises a document by what `read` returns; a ``Failure`` is taken as it is.
    public init<Document: Error>(reading read: @escaping @Sendable (HTTPResponse) -> Document?) {
        self.init { response, _ in read(response) }
    }

    private init<Document: Error>(
        _ read: @escaping @Sendable (HTTPResponse, (any ContentDecoder)?) -> Document?
    ) {
        self.read = { response, decoder in
            guard let document = read(response, decoder) else { return nil }
            if var failure = document as? Failure {
                failure.status = failure.status ?? response.status
                failure.response = failure.response ?? response
                return failure
            }
            var failure = Failure(
                .apiError,
                sent: .answered,
                "the upstream answered \(response.status.rawValue) with an error document",
                status: response.status
            )
            failure.response = response
            failure.underlying = document
            return failure
        }
    }
}
