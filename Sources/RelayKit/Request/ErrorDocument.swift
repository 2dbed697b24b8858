public import RelayBase
public import RelayJSON

/// An upstream's own description of what went wrong, recognised by its place in the content on any status.
///
/// A document that is there makes the answer a failure of the kind `api_error`, a 200 included; the failure keeps the
/// status. One that is not there, or is `null`, says nothing.
public struct ErrorDocument: Sendable {
    let read: @Sendable (HTTPResponse) -> Failure?

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
        self.init { (response: HTTPResponse) -> Document? in
            let bytes = skippingByteOrderMark(response.bytes)
            guard !bytes.isEmpty, let found = try? JSONScan.locate([pointer], in: bytes.span),
                let range = found[0],
                !bytes[range].elementsEqual("null".utf8)
            else { return nil }
            return try? decoder.decodeContent(type, from: Array(bytes[range]))
        }
    }

    /// Recognises a document by what `read` returns; a ``Failure`` is taken as it is.
    public init<Document: Error>(reading read: @escaping @Sendable (HTTPResponse) -> Document?) {
        self.read = { response in
            guard let document = read(response) else { return nil }
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
