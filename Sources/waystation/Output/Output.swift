import Glibc
import RelayBase
import RelayHTTP
import RelayPosix
import Synchronization

/// One of the program's two streams.
struct Output {
    private let descriptor: Int32
    /// Whether colours may be used.
    let hasColour: Bool

    static let standard = Output(STDOUT_FILENO)
    static let error = Output(STDERR_FILENO)

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        let terminal = environment("TERM") ?? ""
        hasColour = isatty(descriptor) == 1 && environment("NO_COLOR") == nil && terminal != "dumb"
    }

    /// How many characters fit in a line: the terminal's, else what COLUMNS says, else 80.
    var columns: Int {
        var size = winsize()
        if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return environment("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// Why standard output took no more; zero while it does, and where its reader has gone.
    static let trouble = Mutex<Int32>(0)

    /// Writes all of it; a reader that has gone ends it without a word.
    func write(_ bytes: [UInt8]) { _ = reaches(bytes) }

    /// Writes all of it; false when nobody reads any more, which ends whatever would go on writing.
    func reaches(_ bytes: [UInt8]) -> Bool {
        if writeAll(bytes, to: descriptor) { return true }
        let error = errno
        if descriptor == STDOUT_FILENO, error != EPIPE { Output.trouble.withLock { $0 = error } }
        return false
    }

    /// Writes a document of the API as it is, or its `text` for people.
    func show(
        _ document: [UInt8],
        as format: OutputFormat,
        _ text: () throws(CommandFailure) -> String
    ) throws(CommandFailure) -> ExitCode {
        write(format == .json ? document + [UInt8(ascii: "\n")] : Array(try text().utf8))
        return .done
    }

    /// Writes the status line and the fields of an answer.
    func writeHead(_ status: Status, _ fields: HeaderFields) {
        var lines = OutputBuffer()
        HeadWriter.appendStatusLine(status, to: &lines)
        HeadWriter.appendFields(fields, to: &lines)
        HeadWriter.appendLineEnd(to: &lines)
        write(lines.bytes)
    }

    /// `text` in a style, where the stream shows styles; colour is never the only carrier of meaning.
    func styled(_ text: String, _ style: Style) -> String {
        hasColour ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    enum Style: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
    }
}
