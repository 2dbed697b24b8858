import RelayBase
import RelayHTTP

/// A request head, the body behind it and its target, in one piece and byte by byte: the verdicts must agree.
@c(LLVMFuzzerTestOneInput)
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: count))
    // Small limits, so that short inputs reach them.
    var limits = HTTPLimits()
    limits.head = 512
    limits.target = 64
    limits.fieldCount = 8
    limits.fieldName = 40
    limits.chunkExtensions = 16
    limits.trailers = 32

    let whole = verdict(bytes, [bytes.count], limits)
    precondition(whole == verdict(bytes, 0...bytes.count, limits), "pieces change the verdict on the head")
    guard case .head(let head, let consumed) = whole else { return 0 }
    precondition(
        head.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
        "the target has bytes it must not have"
    )
    rewrite(head)

    let rest = Array(bytes[consumed...])
    let once = decode(rest, head.framing, by: max(rest.count, 1), limits)
    precondition(once == decode(rest, head.framing, by: 1, limits), "pieces change the body")
    precondition(once.consumed <= rest.count && once.body.count <= once.consumed, "the body grew")

    if let target = try? RelayTarget.parse(head.target) {
        let again = try? RelayTarget.parse("/r/" + target.route + "/" + target.remainder)
        precondition(again == target, "a target read is not read the same again")
    }
    return 0
}

private enum Verdict: Equatable {
    case needsMore
    case refused(HTTPParseError)
    case head(RequestHead, Int)

    static func == (lhs: Verdict, rhs: Verdict) -> Bool {
        switch (lhs, rhs) {
        case (.needsMore, .needsMore): true
        case (.refused(let one), .refused(let other)): one == other
        case (.head(let one, let count), .head(let other, let otherCount)):
            count == otherCount && one.method == other.method && one.target == other.target
                && one.framing == other.framing && one.keepsAlive == other.keepsAlive
                && one.expectsContinue == other.expectsContinue && one.fields.storage == other.fields.storage
                && one.fields.count == other.fields.count
        default: false
        }
    }
}

private func verdict(_ bytes: [UInt8], _ ends: some Sequence<Int>, _ limits: HTTPLimits) -> Verdict {
    var parser = RequestHeadParser(limits: limits)
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

/// Writes the head and reads it again; nothing may be lost or gained.
private func rewrite(_ head: RequestHead) {
    guard head.minorVersion == 1 else { return }
    var output = OutputBuffer()
    HeadWriter.appendRequestLine(head.method, head.target, to: &output)
    HeadWriter.appendFields(head.fields, to: &output)
    HeadWriter.appendLineEnd(to: &output)
    guard case .head(let again, let consumed) = verdict(output.bytes, [output.count], HTTPLimits()) else {
        preconditionFailure("a written head is refused")
    }
    precondition(consumed == output.count && again.method == head.method && again.target == head.target)
    precondition(again.framing == head.framing && again.fields.count == head.fields.count)
    precondition(again.host == head.host, "the host changed")
    _ = head.fields.removingHopByHop()
}

private struct Decoded: Equatable {
    var body: [UInt8] = []
    var consumed = 0
    var isComplete = false
    var fault: HTTPParseError?
}

private func decode(_ bytes: [UInt8], _ framing: BodyFraming, by size: Int, _ limits: HTTPLimits) -> Decoded {
    var decoder = BodyDecoder(framing: framing, limits: limits)
    var result = Decoded()
    result.isComplete = decoder.isComplete
    var position = 0
    while position < bytes.count, !result.isComplete {
        let end = position + min(size, bytes.count - position)
        do throws(HTTPParseError) {
            let step = try decoder.decode(bytes.span.extracting(position..<end), into: &result.body)
            position += step.consumed
            result.isComplete = step.isComplete
        } catch {
            // How far a refused body got depends on the pieces, the verdict does not.
            return Decoded(fault: error)
        }
    }
    result.consumed = position
    return result
}
