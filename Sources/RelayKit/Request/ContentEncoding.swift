import RelayBase

/// The content of a request that may be written anew, with the bytes it has until then.
final class ContentEncoding: Sendable {
    let bytes: [UInt8]
    let encode: @Sendable (any ContentEncoder) throws -> [UInt8]

    init?(_ content: Content) {
        guard let encode = content.encode, case .bytes(let bytes) = content.body else { return nil }
        self.bytes = bytes
        self.encode = encode
    }
}

/// A service's own ways to read and write values, for requests that name none.
struct Coders: Sendable {
    var decoder: (any ContentDecoder)?
    var encoder: (any ContentEncoder)?
}

extension Request {
    /// The same request with its content as the service writes it.
    func encoded(by encoder: (any ContentEncoder)?) -> Request {
        guard let encoder, let encoding, case .bytes(encoding.bytes) = http.body else { return self }
        var encoded = self
        encoded.encoding = nil
        do {
            encoded.http.body = .bytes(try encoding.encode(encoder))
        } catch {
            encoded.contentFlaw = Failure.unprepared(error)
        }
        return encoded
    }
}
