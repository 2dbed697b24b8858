import RelayCore
import RelayEngine
import RelayHTTP

/// What the relay says about how an answer came to be, in the answer's own fields.
struct AnswerFacts {
    let job: JobID
    private let source: AnswerSource?
    private let isFailure: Bool
    let attempts: [Attempt]
    /// Of the whole job, when those at hand are not all.
    var attemptCount: Int
    /// What else is to be said; values are free of control bytes.
    var extra: [(name: StaticString, value: String)] = []

    /// Whether the answer's fields are an upstream's, of now or of some time ago.
    let isUpstream: Bool

    /// An answer without a source is the relay's own.
    init(job: JobID, source: AnswerSource?, isFailure: Bool, attempts: [Attempt]) {
        self.job = job
        self.attempts = attempts
        attemptCount = attempts.count
        isUpstream = source == .upstream || source == .stale
        self.source = source
        self.isFailure = isFailure || source == nil
    }

    init(_ report: JobReport) {
        self.init(
            job: report.id,
            source: report.source,
            isFailure: report.failure != nil,
            attempts: report.attempts
        )
    }

    func append(to output: inout [UInt8]) {
        HeadWriter.append("Waystation-Job: ", to: &output)
        job.append(to: &output)
        HeadWriter.append("\r\nWaystation-Source: ", to: &output)
        output.append(contentsOf: (source?.rawValue ?? "relay").utf8)
        HeadWriter.append("\r\nWaystation-Outcome: ", to: &output)
        output.append(contentsOf: OutcomeWord(source, isFailure: isFailure).rawValue.utf8)
        HeadWriter.append("\r\nWaystation-Attempts: ", to: &output)
        HeadWriter.appendDecimal(UInt64(attemptCount), to: &output)
        HeadWriter.appendLineEnd(to: &output)
        for field in extra { HeadWriter.appendField(field.name, field.value, to: &output) }
        appendProxyStatus(&output)
        appendServerTiming(&output)
    }

    /// RFC 9209: the last attempt, and why it was not the end of it.
    private func appendProxyStatus(_ output: inout [UInt8]) {
        HeadWriter.append("Proxy-Status: waystationd", to: &output)
        if let last = attempts.last {
            if let status = last.status {
                HeadWriter.append("; received-status=", to: &output)
                HeadWriter.appendDecimal(UInt64(status.rawValue), to: &output)
            }
            HeadWriter.append("; next-hop=", to: &output)
            appendString(last.upstream, &output)
            if let failure = last.failure {
                HeadWriter.append("; error=", to: &output)
                output.append(contentsOf: failure.kind.rawValue.utf8)
                HeadWriter.append("; details=", to: &output)
                appendString(failure.detail, &output)
                if failure.isPastDeadline { HeadWriter.append("; past-deadline", to: &output) }
            }
        }
        HeadWriter.appendLineEnd(to: &output)
    }

    /// One entry for each attempt, in milliseconds (W3C Server-Timing); the first twenty.
    private func appendServerTiming(_ output: inout [UInt8]) {
        guard !attempts.isEmpty else { return }
        HeadWriter.append("Server-Timing: ", to: &output)
        for (index, attempt) in attempts.prefix(20).enumerated() {
            if index > 0 { HeadWriter.append(", ", to: &output) }
            HeadWriter.append("attempt-", to: &output)
            HeadWriter.appendDecimal(UInt64(attempt.number), to: &output)
            HeadWriter.append(";dur=", to: &output)
            let microseconds = UInt64(max(0, attempt.duration.saturatedNanoseconds)) / 1000
            HeadWriter.appendDecimal(microseconds / 1000, to: &output)
            output.append(UInt8(ascii: "."))
            let rest = microseconds % 1000
            output.append(UInt8(ascii: "0") + UInt8(rest / 100))
            output.append(UInt8(ascii: "0") + UInt8(rest / 10 % 10))
            output.append(UInt8(ascii: "0") + UInt8(rest % 10))
            if let failure = attempt.failure {
                HeadWriter.append(";desc=", to: &output)
                appendString(failure.kind.rawValue, &output)
            }
        }
        HeadWriter.appendLineEnd(to: &output)
    }

    /// A string of RFC 9651 §3.3.3: printable ASCII, quotes and backslashes escaped, anything else a question mark.
    private func appendString(_ text: String, _ output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
            output.append(byte >= 0x20 && byte < 0x7F ? byte : UInt8(ascii: "?"))
        }
        output.append(UInt8(ascii: "\""))
    }
}
