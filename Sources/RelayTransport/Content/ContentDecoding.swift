import RelayBase
import RelayRoute

/// Undoes the content coding of answers.
enum ContentDecoding {
    /// Bodies up to this size are decoded at once; larger ones as they are read.
    private static let smallBody = 16_384
    /// The memory of a body that is decoded as it is read: a piece of it, and the window of what was decoded last.
    private static let streamed = IncomingBody.largestRead + 49_152

    /// The answer with its body decoded; unchanged when its coding is none or not one of ours.
    ///
    /// No more than `limits.body` is decoded at once: what is larger is decoded as it is read, by a reader who has a
    /// limit of its own. `room` counts so many bytes that are kept.
    static func decoded(
        _ response: HTTPResponse,
        _ limits: ResponseLimits,
        _ reserve: (Int) -> MemoryReservation? = { _ in nil }
    ) throws(Failure) -> HTTPResponse {
        guard case .bytes(let bytes) = response.body, let coding = coding(response) else { return response }
        guard bytes.count <= smallBody else { return decoding(response, limits, reserve) }
        let inflater = Inflater(coding, expansion: limits.expansion)
        var content: [UInt8] = []
        var taken = 0
        let most = limits.body == .max ? Int.max : limits.body + 1
        do throws(Failure) {
            while taken < bytes.count || inflater.hasPending {
                taken += try inflater.decode(bytes[taken...], into: &content, capacity: most)
                guard content.count <= limits.body else { return decoding(response, limits, reserve) }
            }
            try inflater.finish()
        } catch {
            var failure = error
            failure.status = response.status
            throw failure
        }
        var response = response
        removeCoding(&response)
        response.body = content.isEmpty ? .empty : .bytes(content)
        return response
    }

    /// The answer with a body that is decoded as it is read.
    static func decoding(
        _ response: HTTPResponse,
        _ limits: ResponseLimits,
        _ reserve: (Int) -> MemoryReservation? = { _ in nil }
    ) -> HTTPResponse {
        guard let coding = coding(response) else { return response }
        var response = response
        switch response.body {
        case .empty: return response
        case .bytes(let bytes):
            response.body = .stream(
                DecodedBody(
                    .bytes(bytes),
                    Inflater(coding, expansion: limits.expansion),
                    reserve(max(bytes.count, streamed))
                )
            )
        case .stream:
            response.body = .stream(
                DecodedBody(
                    response.body,
                    Inflater(coding, expansion: limits.expansion),
                    reserve(streamed)
                )
            )
        }
        removeCoding(&response)
        return response
    }

    private static func removeCoding(_ response: inout HTTPResponse) {
        response.fields.remove(.contentEncoding)
        response.fields.remove(.contentLength)
    }

    private static func coding(_ response: HTTPResponse) -> Inflater.Coding? {
        guard response.fields.count(of: .contentEncoding) == 1 else { return nil }
        switch response.fields[.contentEncoding]?.lowercased() {
        case "gzip", "x-gzip": return .gzip
        case "deflate": return .deflate
        default: return nil
        }
    }
}
