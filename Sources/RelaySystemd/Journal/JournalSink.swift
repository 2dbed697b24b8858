import CSystemd
import Glibc

/// Where records go.
package enum JournalSink: Sendable, Equatable {
    /// journald's own protocol, with all fields.
    case native
    /// Lines on standard error that begin with `<N>`, which the service manager reads as the priority.
    case prefixedLines
    /// Lines on standard error.
    case plainLines
    /// Lines on a terminal.
    case colouredLines

    /// The best this process can reach: journald when standard error is connected to it and it listens, lines
    /// otherwise (sd-journal's own calls report success when nobody listens).
    package static func detected() -> JournalSink {
        if isJournalStream, unsafe access("/run/systemd/journal/socket", W_OK) == 0 { return .native }
        if unsafe getenv("JOURNAL_STREAM") != nil || getenv("INVOCATION_ID") != nil { return .prefixedLines }
        guard isatty(STDERR_FILENO) == 1 else { return .plainLines }
        return unsafe getenv("NO_COLOR") == nil ? .colouredLines : .plainLines
    }

    /// Whether `JOURNAL_STREAM` (systemd.exec(5)) names the device and inode of standard error.
    private static var isJournalStream: Bool {
        guard let variable = unsafe getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return unsafe String(cString: variable) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one record; may block.
    package func write(_ record: JournalRecord) {
        switch self {
        case .native: writeNative(record)
        case .prefixedLines, .plainLines, .colouredLines: writeAll(Array(lines(record).utf8))
        }
    }

    /// The record as lines; those after the first are indented, so that none of them can pass for a record.
    package func lines(_ record: JournalRecord) -> String {
        let message = JournalText.escaped(record.message, limit: messageLimit, keepsLines: true)
        var text = ""
        for (index, line) in message.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let indented = index == 0 || line.hasPrefix("  ") ? String(line) : "  \(line)"
            text += decorated(indented, record.priority) + "\n"
        }
        return text
    }

    private func decorated(_ line: String, _ priority: JournalRecord.Priority) -> String {
        switch self {
        case .native, .plainLines: return line
        case .prefixedLines: return "<\(priority.rawValue)>\(line)"
        case .colouredLines:
            let colour =
                switch priority {
                case .emergency, .alert, .critical, .error: "31"
                case .warning: "33"
                case .notice: "1"
                case .info: "0"
                case .debug: "2"
                }
            return "\u{1B}[\(colour)m\(line)\u{1B}[0m"
        }
    }
}

/// Bytes of a message; the rest is cut.
private let messageLimit = 8192
/// Bytes of a field's value; the rest is cut.
private let fieldLimit = 1024

/// The record as the journal takes it: `NAME=value` each, in one array, with the ends of the entries.
package func journalEntries(_ record: JournalRecord) -> (bytes: [UInt8], ends: [Int]) {
    var bytes: [UInt8] = []
    var ends: [Int] = []
    func append(_ name: String, _ value: String) {
        bytes += name.utf8
        bytes.append(UInt8(ascii: "="))
        bytes += value.utf8
        ends.append(bytes.count)
    }
    append("MESSAGE", JournalText.escaped(record.message, limit: messageLimit, keepsLines: true))
    append("PRIORITY", String(record.priority.rawValue))
    if let id = record.id { append("MESSAGE_ID", id.text) }
    for (field, value) in record.fields {
        append(field.name, JournalText.escaped(value, limit: fieldLimit))
    }
    return (bytes, ends)
}

private func writeNative(_ record: JournalRecord) {
    var (bytes, ends) = journalEntries(record)
    unsafe bytes.withUnsafeMutableBytes { buffer in
        guard let base = buffer.baseAddress else { return }
        var start = 0
        var vectors: [iovec] = unsafe []
        for end in ends {
            unsafe vectors.append(iovec(iov_base: base + start, iov_len: end - start))
            start = end
        }
        _ = unsafe sd_journal_sendv(&vectors, Int32(vectors.count))
    }
}

/// Writes to standard error, which may be a pipe that takes only a part.
private func writeAll(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes {
            unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
        }
        if count > 0 {
            rest = rest.dropFirst(count)
        } else if errno != EINTR {
            return
        }
    }
}
