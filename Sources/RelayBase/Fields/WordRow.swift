/// A row of a table of words, as the raw value of an enum's case, so that the case and its row are one.
///
/// The first line is `name` or `name: note`, the second the sentence; further lines begin with a title, such as `Causes: `.
package struct WordRow: ExpressibleByStringLiteral, Equatable, Sendable {
    private let text: String

    package init(stringLiteral text: String) { self.text = text }

    private var heading: Substring.UTF8View { text.utf8.prefix { $0 != UInt8(ascii: "\n") } }

    package var name: String { String(Substring(heading.prefix { $0 != UInt8(ascii: ":") })) }
    package var note: Substring { Substring(heading.drop { $0 != UInt8(ascii: ":") }.dropFirst(2)) }
    package var sentence: Substring { body.prefix { $0 != "\n" } }
    /// The sentence and the lines with a title.
    package var body: Substring { Substring(text.utf8.dropFirst(heading.count + 1)) }

    /// The rest of the line that begins with the title.
    package static func line(_ title: String, of body: some StringProtocol) -> String? {
        body.split(separator: "\n").dropFirst().first { $0.hasPrefix(title) }
            .map { String($0.dropFirst(title.count)) }
    }

    package func line(_ title: String) -> String? { WordRow.line(title, of: body) }
}
