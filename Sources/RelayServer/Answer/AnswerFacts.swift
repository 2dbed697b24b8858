import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayJobs

/// The facts that the relay states about how an answer came to be, in the answer's own fields.
struct AnswerFacts {
    let job: JobID
    private let source: AnswerSource?
    private let isFailure: Bool
    let attempts: [Attempt]
    /// Of the whole job, when those at hand are not all.
    var attemptCount: Int
    /// Further fields; their values are free of control bytes.
    var extra: [(name: StaticString, value: String)] = []

    /// Whether the answer's fields are an upstream's, of now or of some time ago.
    let isUpstream: Bool

    /// An answer without a source is the relay's own.
    init(job: JobID, source: AnswerSource?, isFailure: Bool, attempts: [Attempt]) {
        self.job = job
        self.attempts = attempts
        attemptCount = attempts.count
        isUpstream = source == .stale || source?.isUpstreams == true
        self.source = source
        self.isFailure = isFailure || source == nil
    }

    init(_ report: JobReport) {
        self.init(
            job: report.keptJob?.id ?? report.id,
            source: report.source,
            isFailure: report.failure != nil,
            attempts: report.attempts
        )
        if let job = report.keptJob {
            extra = [("Waystation-Kept", "true")]
            if job.isReplayed { extra.append(("Waystation-Replayed", "true")) }
        } else if let reason = report.notKeptBecause {
            extra = [("Waystation-Kept", "false; reason=" + AnswerFacts.quoted(reason))]
        }
        if let context = report.context, let asked = context.options.maxAttempts,
            asked > context.maxAttempts
        {
            extra.append(("Waystation-Max-Attempts", "\(context.maxAttempts)"))
        }
    }

    /// A string of RFC 9651 §3.3.3, as `appendString` writes it.
    private static func quoted(_ text: String) -> String {
        let visible = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case " "..."~": "\(scalar)"
            default: "?"
            }
        }
        return "\"\(visible.joined())\""
    }

    func append(to output: inout OutputBuffer) {
        output.append("Waystation-Job: ")
        job.append(to: &output)
        output.append("\r\nWaystation-Source: ")
        output.append(text: source?.rawValue ?? "relay")
        output.append("\r\nWaystation-Outcome: ")
        output.append(text: OutcomeWord(source, isFailure: isFailure).rawValue)
        output.append("\r\nWaystation-Attempts: ")
        output.append(decimal: UInt64(attemptCount))
        HeadWriter.appendLineEnd(to: &output)
        for field in extra { HeadWriter.appendField(field.name, field.value, to: &output) }
        appendProxyStatus(&output)
        appendServerTiming(&output)
    }

    /// RFC 9209: the last attempt, and why it was not the end of it.
    private func appendProxyStatus(_ output: inout OutputBuffer) {
        output.append("Proxy-Status: waystationd")
        // By index: an attempt is large to be copied.
        if let last = attempts.indices.last {
            if let status = attempts[last].status {
                output.append("; received-status=")
                output.append(decimal: UInt64(status.rawValue))
            }
            output.append("; next-hop=")
            appendString(attempts[last].upstream, &output)
            if let failure = attempts[last].failure {
                output.append("; error=")
                output.append(text: failure.kind.rawValue)
                output.append("; details=")
                appendString(failure.detail, &output)
                if failure.isPastDeadline { output.append("; past-deadline") }
            }
        }
        HeadWriter.appendLineEnd(to: &output)
    }

    /// The attempts by their numbers; nil where they stand so.
    private var orderOfNumbers: [Int]? {
        guard attempts.count > 1, attempts.hasLosers else { return nil }
        return attempts.indices.sorted { attempts[$0].number < attempts[$1].number }
    }

    /// One entry for each attempt, in milliseconds (W3C Server-Timing); the first twenty.
    private func appendServerTiming(_ output: inout OutputBuffer) {
        guard !attempts.isEmpty else { return }
        output.append("Server-Timing: ")
        let order = orderOfNumbers
        for place in attempts.indices.prefix(20) {
            let index = order?[place] ?? place
            if place > 0 { output.append(", ") }
            output.append("attempt-")
            output.append(decimal: UInt64(attempts[index].number))
            output.append(";dur=")
            let microseconds = UInt64(max(0, attempts[index].duration.saturatedNanoseconds)) / 1000
            output.append(decimal: microseconds / 1000)
            output.append(UInt8(ascii: "."))
            let rest = microseconds % 1000
            output.append(UInt8(ascii: "0") + UInt8(rest / 100))
            output.append(UInt8(ascii: "0") + UInt8(rest / 10 % 10))
            output.append(UInt8(ascii: "0") + UInt8(rest % 10))
            if let failure = attempts[index].failure {
                output.append(";desc=")
                appendString(failure.kind.rawValue, &output)
            }
        }
        HeadWriter.appendLineEnd(to: &output)
    }

    /// A string of RFC 9651 §3.3.3: printable ASCII, quotes and backslashes escaped, anything else a question mark.
    private func appendString(_ text: String, _ output: inout OutputBuffer) {
        output.append(UInt8(ascii: "\""))
        let bytes = text.utf8.span
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
            output.append(byte >= 0x20 && byte < 0x7F ? byte : UInt8(ascii: "?"))
        }
        output.append(UInt8(ascii: "\""))
    }
}
