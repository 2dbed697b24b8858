import Glibc
import RelayBase
import RelayJSON
import RelayPosix

/// Where records go.
package enum JournalSink: Sendable, Equatable {
    /// journald's own protocol, with all fields.
    case native
    /// Lines on standard error that begin with `<N>`, which the service manager reads as the priority.
    case prefixedLines
    /// Lines on standard error that begin with the time and the severity.
    case plainLines
    /// The same on a terminal.
    case colouredLines
    /// Lines on standard error, each a JSON object with all fields.
    case jsonLines

    /// The best this process can reach: journald where standard error is connected to it, or where the service
    /// manager would have done so; lines otherwise.
    ///
    /// A variable of the service manager's alone says nothing: a shell that a service started has inherited it, and
    /// writes to a terminal. With `prefersJSON` what would be lines for people is JSON.
    package static func detected(prefersJSON: Bool = false) -> JournalSink {
        if isJournalStream || isUnheardService { return .native }
        if prefersJSON { return .jsonLines }
        guard isatty(STDERR_FILENO) == 1 else { return .plainLines }
        return unsafe getenv("NO_COLOR") == nil ? .colouredLines : .plainLines
    }

    /// Whether this is a service whose standard error is nowhere: so the manager starts one while no journal listens,
    /// and a journal that comes later is found by its socket alone.
    private static var isUnheardService: Bool {
        guard let process = unsafe getenv("SYSTEMD_EXEC_PID"),
            unsafe String(cString: process) == "\(getpid())"
        else {
            return false
        }
        var (own, null) = (stat(), stat())
        guard unsafe fstat(STDERR_FILENO, &own) == 0, unsafe stat("/dev/null", &null) == 0 else {
            return false
        }
        return own.st_mode & S_IFMT == S_IFCHR && own.st_rdev == null.st_rdev
    }

    /// Whether `JOURNAL_STREAM` (systemd.exec(5)) names the device and inode of standard error.
    private static var isJournalStream: Bool {
        guard let variable = unsafe getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return unsafe String(cString: variable) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one record; may block.
    ///
    /// - Returns: false when nobody took it.
    @discardableResult
    package func write(_ record: JournalRecord) -> Bool {
        switch self {
        case .native:
            if JournalSocket.system.send(journalDatagram(record)) { return true }
            // Of a journal that comes back the manager keeps the stream.
            return Self.isJournalStream && JournalSink.prefixedLines.write(record)
        case .prefixedLines, .plainLines, .colouredLines:
            return writeAll(Array(lines(record, at: time(nil)).utf8), to: STDERR_FILENO)
        case .jsonLines:
            return writeAll(jsonLine(record, at: SystemClock.wall() / 1_000_000), to: STDERR_FILENO)
        }
    }

    /// Waits a moment until whoever takes the records has looked at them.
    package func settle() {
        if self == .native { JournalSocket.system.settle() }
    }

    /// The record as lines; those after the first are indented alike, so that none of them can pass for a record, and
    /// have the time too where programs read them: what ships lines takes each for a record.
    ///
    /// `seconds` is the time since 1970, for lines that carry it.
    package func lines(_ record: JournalRecord, at seconds: Int) -> String {
        let message = JournalText.escaped(record.message, limit: messageLimit, keepsLines: true)
        var text = ""
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        let indent = lines.dropFirst().allSatisfy { $0.hasPrefix("  ") } ? "" : "  "
        for (index, line) in lines.enumerated() {
            let start =
                (index == 0 || self == .plainLines ? opening(record.priority, seconds) : "")
                + (index == 0 ? "" : indent)
            text += decorated(start + line, record.priority) + "\n"
        }
        return text
    }

    /// The time and the priority before the message, where no journal adds them.
    private func opening(_ priority: JournalRecord.Priority, _ seconds: Int) -> String {
        switch self {
        case .native, .prefixedLines, .jsonLines: ""
        case .plainLines, .colouredLines: "\(UTCTime.format(seconds: Int64(seconds))) \(priority.text): "
        }
    }

    private func decorated(_ line: String, _ priority: JournalRecord.Priority) -> String {
        switch self {
        case .native, .plainLines, .jsonLines: return line
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

extension JournalRecord.Priority {
    /// The severity as people read it.
    fileprivate var text: String {
        switch self {
        case .emergency: "emergency"
        case .alert: "alert"
        case .critical: "critical"
        case .error: "error"
        case .warning: "warning"
        case .notice: "notice"
        case .info: "info"
        case .debug: "debug"
        }
    }
}

/// Bytes of a message; the rest is cut.
private let messageLimit = 8192
/// Bytes of a field's value; the rest is cut.
private let fieldLimit = 1024

/// Names and values of all that a record says.
private func journalFields(_ record: JournalRecord) -> [(name: String, value: String)] {
    var fields = [
        ("MESSAGE", JournalText.escaped(record.message, limit: messageLimit, keepsLines: true)),
        ("PRIORITY", String(record.priority.rawValue)),
    ]
    if let id = record.id { fields.append(("MESSAGE_ID", id.text)) }
    for (field, value) in record.fields {
        fields.append((field.name, JournalText.escaped(value, limit: fieldLimit)))
    }
    return fields
}

/// The record as the journal takes it, one field after the other: with its length where its value has lines, and `=`
/// and an end of line otherwise.
package func journalDatagram(_ record: JournalRecord, program: String = programName) -> [UInt8] {
    var bytes: [UInt8] = []
    for (name, value) in journalFields(record) + [("SYSLOG_IDENTIFIER", program)] {
        bytes += name.utf8
        if value.utf8.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            let count = UInt64(value.utf8.count)
            for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: count >> (8 * UInt64(place)))) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value.utf8
        bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
}

/// The name that `journalctl -t` knows this process by.
package let programName: String =
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "waystationd"

/// The record as a JSON object on a line of its own; a field that stands more than once is a list, as in journalctl's.
///
/// `milliseconds` is the time since 1970.
package func jsonLine(_ record: JournalRecord, at milliseconds: Int64) -> [UInt8] {
    var json = JSONObjectWriter()
    json.member("TIMESTAMP", UTCTime.format(milliseconds: milliseconds))
    let fields = journalFields(record)
    var written: Set<String> = []
    for (name, value) in fields where written.insert(name).inserted {
        let values = fields.filter { $0.name == name }.map(\.value)
        if values.count == 1 {
            json.member(name, value)
        } else {
            json.array(name) { list in for value in values { list.element(value) } }
        }
    }
    return json.bytes + [UInt8(ascii: "\n")]
}
