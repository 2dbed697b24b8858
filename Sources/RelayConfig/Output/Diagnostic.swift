package import RelayJSON

/// One error or warning about a configuration, with its place.
package struct Diagnostic: Sendable, Equatable {
    package enum Severity: String, Sendable {
        case error
        case warning
    }

    /// The line the diagnostic is about, as it may be shown.
    package struct Excerpt: Sendable, Equatable {
        /// Secrets are replaced by `"***"`, long lines are cut on both sides.
        package var text: String
        /// Characters of `text` before the caret.
        package var indent: Int
        /// Characters that are marked; at least one.
        package var width: Int
    }

    package var severity: Severity
    package var file: String
    package var position: JSONPosition
    /// JSON pointer to the value or object; empty for the whole document and for syntax errors.
    package var pointer: String
    package var message: String
    /// The advice on what to write instead, where that is known.
    package var hint: String?
    package var excerpt: Excerpt?

    /// The diagnostic as a compiler would print it, with its line and a caret, ending in a line feed.
    package func render() -> String {
        let place = "\(file):\(position.line):\(position.column)"
        let suffix = pointer.isEmpty ? "" : "  [\(printablePointer)]"
        var text = "\(place): \(severity.rawValue): \(message)\(suffix)\n"
        guard let excerpt else { return hint.map { "\(text)    \($0)\n" } ?? text }
        let number = " \(position.line) "
        let blank = String(repeating: " ", count: number.utf8.count)
        text += "\(number)| \(excerpt.text)\n"
        let marks = "^" + String(repeating: "~", count: excerpt.width - 1)
        let hint = hint.map { " \($0)" } ?? ""
        text += "\(blank)| \(String(repeating: " ", count: excerpt.indent))\(marks)\(hint)\n"
        return text
    }

    private var printablePointer: String {
        String(
            String.UnicodeScalarView(
                pointer.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }
            )
        )
    }

    /// All diagnostics one after the other, as `render` has them.
    package static func render(_ diagnostics: [Diagnostic]) -> String {
        diagnostics.map { $0.render() }.joined()
    }

    /// How many of them there are: `FILE: 2 errors, 1 warning`, or that the file is well, with its `routes`.
    package static func verdict(_ file: String, _ diagnostics: [Diagnostic], routes: Int?) -> String {
        let errors = diagnostics.count { $0.severity == .error }
        let warnings = diagnostics.count - errors
        let verdict = routes.map { "ok, \(count($0, "route"))" } ?? count(errors, "error")
        return "\(file): \(verdict)\(warnings > 0 ? ", \(count(warnings, "warning"))" : "")\n"
    }

    private static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }

    /// All diagnostics as a JSON array, for editors and scripts, ending in a line feed.
    package static func json(_ diagnostics: [Diagnostic]) -> [UInt8] {
        var list = JSONArrayWriter()
        for diagnostic in diagnostics {
            list.object { object in
                object.member("file", diagnostic.file)
                object.member("line", diagnostic.position.line)
                object.member("column", diagnostic.position.column)
                object.member("pointer", diagnostic.pointer)
                object.member("severity", diagnostic.severity.rawValue)
                object.member("message", diagnostic.message)
                object.member("hint", diagnostic.hint.map { .string($0) } ?? .null)
            }
        }
        return list.bytes + [UInt8(ascii: "\n")]
    }
}

extension Diagnostic {
    init(_ finding: ReadContext.Finding, file: String, _ excerpts: ExcerptMaker) {
        severity = finding.isError ? .error : .warning
        self.file = file
        position = excerpts.source.position(of: finding.range.lowerBound)
        pointer = finding.pointer.text
        message = finding.message
        hint = finding.hint
        excerpt = excerpts.excerpt(of: finding.range)
    }
}

extension Diagnostic {
    /// A finding about the world the configuration refers to, found after the file itself was found good.
    package init(
        _ message: String,
        hint: String? = nil,
        severity: Severity = .error,
        file: String,
        position: JSONPosition = JSONPosition(line: 1, column: 1),
        pointer: String = ""
    ) {
        self.init(
            severity: severity,
            file: file,
            position: position,
            pointer: pointer,
            message: message,
            hint: hint,
            excerpt: nil
        )
    }
}
