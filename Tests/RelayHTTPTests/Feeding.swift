import RelayBase
import RelayHTTP

/// The result of a parser for some bytes, in a form that compares.
enum Verdict: Equatable, CustomStringConvertible {
    case needsMore
    case refused(HTTPParseError.Code, status: UInt16)
    case head(String, consumed: Int)

    var description: String {
        switch self {
        case .needsMore: "needs more"
        case .refused(let code, let status): "\(code.rawValue) \(status)"
        case .head(let text, let consumed): "\(text) (\(consumed) bytes)"
        }
    }
}

/// Gives `bytes` to a request parser in the stages that `ends` names, each with all bytes before it.
func requestVerdict(
    _ bytes: [UInt8],
    ends: some Sequence<Int>,
    limits: HTTPLimits = HTTPLimits()
) -> Verdict {
    var parser = RequestHeadParser(limits: limits)
    return verdict(bytes, ends) { part throws(HTTPParseError) in
        guard case .head(let head, let consumed) = try parser.parse(part) else { return nil }
        return .head(describe(head), consumed: consumed)
    }
}

/// The same with a parser of responses.
func responseVerdict(_ bytes: [UInt8], ends: some Sequence<Int>, method: Method = .get) -> Verdict {
    var parser = ResponseHeadParser(requestMethod: method)
    return verdict(bytes, ends) { part throws(HTTPParseError) in
        guard case .head(let head, let consumed) = try parser.parse(part) else { return nil }
        return .head(describe(head), consumed: consumed)
    }
}

private func verdict(
    _ bytes: [UInt8],
    _ ends: some Sequence<Int>,
    _ parse: (Span<UInt8>) throws(HTTPParseError) -> Verdict?
) -> Verdict {
    for end in ends {
        do throws(HTTPParseError) {
            if let verdict = try parse(bytes.span.extracting(first: end)) { return verdict }
        } catch {
            return .refused(error.code, status: error.status.rawValue)
        }
    }
    return .needsMore
}

func describe(_ head: RequestHead) -> String {
    var words = ["\(head.method.rawValue) \(head.target) 1.\(head.minorVersion)", describe(head.framing)]
    if head.keepsAlive { words.append("keeps") }
    if head.expectsContinue { words.append("continue") }
    return (words + head.fields.pairs.map { "\($0.name)=\($0.value)" }).joined(separator: "|")
}

func describe(_ head: ResponseHead) -> String {
    var words = ["\(head.status.rawValue)", describe(head.framing)]
    if head.keepsAlive { words.append("keeps") }
    return (words + head.fields.pairs.map { "\($0.name)=\($0.value)" }).joined(separator: "|")
}

private func describe(_ framing: BodyFraming) -> String {
    switch framing {
    case .none: "none"
    case .length(let length): "length \(length)"
    case .chunked: "chunked"
    case .untilClose: "until close"
    }
}

/// The outcome of decoding a body given in `pieces`.
struct Decoded: Equatable {
    var body: [UInt8] = []
    var consumed = 0
    var isComplete = false
    var fault: HTTPParseError.Code?
}

/// Decodes `bytes`, which arrive in pieces of at most `size`.
func decode(
    _ bytes: [UInt8],
    _ framing: BodyFraming,
    size: Int = .max,
    limits: HTTPLimits = HTTPLimits()
) -> Decoded {
    var decoder = BodyDecoder(framing: framing, limits: limits)
    var result = Decoded()
    result.isComplete = decoder.isComplete
    while result.consumed < bytes.count, !result.isComplete {
        let end = result.consumed + min(size, bytes.count - result.consumed)
        do throws(HTTPParseError) {
            let step = try decoder.decode(bytes.span.extracting(result.consumed..<end), into: &result.body)
            result.consumed += step.consumed
            result.isComplete = step.isComplete
        } catch {
            result.fault = error.code
            return result
        }
    }
    return result
}
