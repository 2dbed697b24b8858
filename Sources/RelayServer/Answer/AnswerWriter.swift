import RelayCore
import RelayEngine
import RelayHTTP

/// Composes the heads of answers.
struct AnswerWriter {
    let server: LoopServer
    let keepsAlive: Bool
    let isHead: Bool

    /// A whole problem answer.
    func append(_ problem: Problem, to output: inout [UInt8]) {
        let body = problem.body
        HeadWriter.appendStatusLine(problem.status, to: &output)
        HeadWriter.append("Content-Type: application/problem+json\r\n", to: &output)
        HeadWriter.append("Waystation-Source: relay\r\n", to: &output)
        if let job = problem.job { HeadWriter.appendField("Waystation-Job", job.description, to: &output) }
        if let job = problem.job, problem.namesLocation {
            HeadWriter.appendField("Location", "/v1/jobs/\(job)", to: &output)
        }
        if let allow = problem.allow { HeadWriter.appendField("Allow", allow, to: &output) }
        if let wait = problem.retryAfter {
            let seconds = (wait.saturatedNanoseconds + 999_999_999) / 1_000_000_000
            HeadWriter.appendField("Retry-After", String(max(seconds, 1)), to: &output)
        }
        end(UInt64(body.count), &output)
        if !isHead { output += body }
    }

    /// A whole answer of the API.
    func append(_ answer: APIAnswer, to output: inout [UInt8]) {
        HeadWriter.appendStatusLine(answer.status, to: &output)
        appendAPIFields(answer, to: &output)
        if answer.status.forbidsContent {
            endOfHead(&output)
        } else {
            end(UInt64(answer.body.count), &output)
            if !isHead { output += answer.body }
        }
    }

    /// The head of an answer of the API whose body of `length` bytes follows.
    func appendHead(_ answer: APIAnswer, length: UInt64, to output: inout [UInt8]) {
        HeadWriter.appendStatusLine(answer.status, to: &output)
        appendAPIFields(answer, to: &output)
        end(length, &output)
    }

    private func appendAPIFields(_ answer: APIAnswer, to output: inout [UInt8]) {
        if !answer.status.forbidsContent {
            HeadWriter.append("Content-Type: ", to: &output)
            HeadWriter.append(answer.type, to: &output)
            HeadWriter.appendLineEnd(to: &output)
        }
        HeadWriter.append("Cache-Control: no-store\r\nWaystation-Source: relay\r\n", to: &output)
        for field in answer.fields { HeadWriter.appendField(field.name, field.value, to: &output) }
    }

    /// The head of a stream of lines.
    func appendStreamHead(
        framing: Framing,
        type: StaticString = "application/x-ndjson",
        to output: inout [UInt8]
    ) {
        HeadWriter.appendStatusLine(200, to: &output)
        HeadWriter.append("Content-Type: ", to: &output)
        HeadWriter.append(type, to: &output)
        HeadWriter.append("\r\nCache-Control: no-store\r\nWaystation-Source: relay\r\n", to: &output)
        if framing == .chunked { HeadWriter.append("Transfer-Encoding: chunked\r\n", to: &output) }
        appendConnection(&output)
        server.appendDate(to: &output)
        HeadWriter.appendLineEnd(to: &output)
    }

    /// Framing by length, and the end of the head.
    private func end(_ length: UInt64, _ output: inout [UInt8]) {
        HeadWriter.appendContentLength(length, to: &output)
        endOfHead(&output)
    }

    private func endOfHead(_ output: inout [UInt8]) {
        appendConnection(&output)
        server.appendDate(to: &output)
        HeadWriter.appendLineEnd(to: &output)
    }

    func appendConnection(_ output: inout [UInt8]) {
        if !keepsAlive { HeadWriter.append("Connection: close\r\n", to: &output) }
    }

    /// The head of a relayed answer; `framing` tells how the body that follows is delimited.
    func appendHead(
        _ response: HTTPResponse,
        framing: Framing,
        facts: AnswerFacts,
        to output: inout [UInt8]
    ) {
        HeadWriter.appendStatusLine(response.status, to: &output)
        let listed =
            response.fields.contains(.connection) ? response.fields.removingHopByHop() : response.fields
        let hasDate = listed.contains(.date)
        HeadWriter.appendFields(listed, to: &output) { entry in
            switch Int(entry.nameCount) {
            // A HEAD or 304 answer tells the length of a body it does not have; a 204 has none (RFC 9110 §8.6).
            case 14
            where (framing != .none || response.status == 204) && listed.matches(entry, .contentLength): true
            case 11...64 where facts.isUpstream && isReserved(listed, entry): true
            default: listed.isHopByHop(entry)
            }
        }
        facts.append(to: &output)
        switch framing {
        case .none: break
        case .length(let length): HeadWriter.appendContentLength(length, to: &output)
        case .chunked: HeadWriter.append("Transfer-Encoding: chunked\r\n", to: &output)
        case .untilClose: break
        }
        appendConnection(&output)
        if !hasDate { server.appendDate(to: &output) }
        HeadWriter.appendLineEnd(to: &output)
    }

    enum Framing: Equatable {
        case none
        case length(UInt64)
        case chunked
        case untilClose
    }

    /// Fields of the relay's own that an upstream might pretend to; it has seen no preference of the caller's.
    private func isReserved(_ fields: HeaderFields, _ entry: HeaderFields.Entry) -> Bool {
        if fields.matches(entry, .preferenceApplied) { return true }
        let start = Int(entry.nameStart)
        for (index, byte) in "waystation-".utf8.enumerated()
        where lowercased(fields.storage[start + index]) != byte {
            return false
        }
        return true
    }
}
