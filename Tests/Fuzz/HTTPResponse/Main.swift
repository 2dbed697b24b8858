import RelayBase
import RelayHTTP

/// A response head, the body behind it and its Retry-After, in one piece and byte by byte.
///
/// The first byte picks the request's method.
@c(LLVMFuzzerTestOneInput)
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: count))
    let method: Method = input[0] & 1 == 0 ? .get : .head
    let bytes = Array(input[1...])
    var limits = HTTPLimits()
    limits.head = 512
    limits.fieldCount = 8
    limits.fieldName = 40
    limits.chunkExtensions = 16
    limits.trailers = 32

    checkWait(bytes)
    let whole = verdict(bytes, [bytes.count], method, limits)
    precondition(
        whole == verdict(bytes, 0...bytes.count, method, limits),
        "pieces change the verdict on the head"
    )
    guard case .head(let head, let consumed) = whole else { return 0 }
    precondition((100...599).contains(head.status.rawValue) && head.status != 101)
    precondition(
        head.framing != .untilClose || !head.keepsAlive,
        "a body without an end keeps its connection"
    )
    precondition(method != .head || head.framing == .none, "an answer to HEAD has a body")
    checkWait(RetryAfter.parse(head.fields, wallSeconds: 784_111_777))

    let rest = Array(bytes[consumed...])
    let once = body(rest, head.framing, by: max(rest.count, 1), limits)
    precondition(once == body(rest, head.framing, by: 1, limits), "pieces change the body")
    return 0
}

private func checkWait(_ bytes: [UInt8]) {
    for now in [0, 784_111_777, Int64.max, Int64.min] {
        checkWait(RetryAfter.parse(bytes.span, wallSeconds: now))
    }
    if let seconds = IMFDate.parse(bytes.span, now: 784_111_777) {
        precondition(IMFDate.parse(IMFDate.format(seconds).span, now: 0) == seconds, "a date changed")
    }
}

private func checkWait(_ wait: Duration?) {
    precondition(wait.map { $0 >= .zero && $0 <= .seconds(315_360_000) } ?? true, "the wait is out of bounds")
}

private enum Verdict: Equatable {
    case needsMore
    case refused(HTTPParseError)
    case head(ResponseHead, Int)

    static func == (lhs: Verdict, rhs: Verdict) -> Bool {
        switch (lhs, rhs) {
        case (.needsMore, .needsMore): true
        case (.refused(let one), .refused(let other)): one == other
        case (.head(let one, let count), .head(let other, let otherCount)):
            count == otherCount && one.status == other.status && one.framing == other.framing
                && one.keepsAlive == other.keepsAlive && one.fields.storage == other.fields.storage
                && one.fields.count == other.fields.count
        default: false
        }
    }
}

private func verdict(
    _ bytes: [UInt8],
    _ ends: some Sequence<Int>,
    _ method: Method,
    _ limits: HTTPLimits
) -> Verdict {
    var parser = ResponseHeadParser(limits: limits, requestMethod: method)
    for end in ends {
        do throws(HTTPParseError) {
            if case .head(let head, let consumed) = try parser.parse(bytes.span.extracting(first: end)) {
                return .head(head, consumed)
            }
        } catch {
            return .refused(error)
        }
    }
    return .needsMore
}

/// The content that came out of a body: nil when the body was refused.
private func body(_ bytes: [UInt8], _ framing: BodyFraming, by size: Int, _ limits: HTTPLimits) -> [UInt8]? {
    var decoder = BodyDecoder(framing: framing, limits: limits)
    var output: [UInt8] = []
    var position = 0
    while position < bytes.count, !decoder.isComplete {
        let end = position + min(size, bytes.count - position)
        guard let step = try? decoder.decode(bytes.span.extracting(position..<end), into: &output) else {
            return nil
        }
        position += step.consumed
    }
    precondition(output.count <= position, "the body grew")
    return output
}
