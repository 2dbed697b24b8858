import RelayBase
import RelayEngine
import RelayHTTP

/// Composes the heads of answers.
struct AnswerWriter {
    let server: LoopServer
    let keepsAlive: Bool

    /// A head; `framing` tells how the body that follows is delimited.
    func append(_ head: Answer.Head, _ framing: Framing, to output: inout OutputBuffer) {
        switch head {
        case .own(let own): append(own, framing, to: &output)
        case .passed(let status, let fields, let facts):
            append(status, fields, facts, framing, to: &output)
        }
    }

    func append(_ own: Answer.Own, _ framing: Framing, to output: inout OutputBuffer) {
        HeadWriter.appendStatusLine(own.status, to: &output)
        if !own.status.forbidsContent {
            output.append("Content-Type: ")
            output.append(own.type)
            HeadWriter.appendLineEnd(to: &output)
        }
        output.append("Cache-Control: ")
        output.append(own.cache)
        output.append(own.hasSource ? "\r\nWaystation-Source: relay\r\n" : "\r\n")
        own.accepted?.append(to: &output)
        for field in own.fields { HeadWriter.appendField(field.name, field.value, to: &output) }
        append(framing, to: &output)
        end(hasDate: false, &output)
    }

    private func append(
        _ status: Status,
        _ fields: HeaderFields,
        _ facts: AnswerFacts,
        _ framing: Framing,
        to output: inout OutputBuffer
    ) {
        HeadWriter.appendStatusLine(status, to: &output)
        let listed = fields.removingHopByHop()
        let hasDate = listed.contains(.date)
        HeadWriter.appendFields(listed, to: &output) { entry in
            switch Int(entry.nameCount) {
            // A HEAD or 304 answer tells the length of a body it does not have; a 204 has none (RFC 9110 §8.6).
            case 14
            where (framing != .none || status == 204) && listed.matches(entry, .contentLength): true
            case 11...64 where facts.isUpstream && isReserved(listed, entry): true
            default: false
            }
        }
        facts.append(to: &output)
        append(framing, to: &output)
        end(hasDate: hasDate, &output)
    }

    private func append(_ framing: Framing, to output: inout OutputBuffer) {
        switch framing {
        case .none, .untilClose: break
        case .length(let length): HeadWriter.appendContentLength(length, to: &output)
        case .chunked: output.append("Transfer-Encoding: chunked\r\n")
        }
    }

    private func end(hasDate: Bool, _ output: inout OutputBuffer) {
        if !keepsAlive { output.append("Connection: close\r\n") }
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
        fields.matches(entry, .preferenceApplied) || fields.isName(of: entry, below: "waystation-")
    }
}
