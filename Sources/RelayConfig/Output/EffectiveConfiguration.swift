import RelayJSON

/// Every value a configuration has, and why it has it.
package struct EffectiveConfiguration: Sendable {
    package struct Entry: Sendable, Equatable {
        /// JSON pointer.
        package var pointer: String
        /// The value as JSON, on one line.
        package var value: String
        /// The value as it may be printed.
        package var shown: String
        /// `default`, `defaults.<section>` or `<file>:<line>`.
        package var origin: String
        /// The line of the file the value stands on, from 1; nil for one that does not stand there.
        package var line: Int?
    }

    package let entries: [Entry]

    init(_ noted: [ReadContext.Entry], file: String, source: SourceText) {
        entries = noted.map { entry in
            var line: Int?
            let origin: String
            switch entry.origin {
            case .builtIn: origin = "default"
            case .inherited(let section): origin = section
            case .file(let offset):
                line = source.position(of: offset).line
                origin = "\(file):\(line ?? 0)"
            }
            return Entry(
                pointer: JSONPointer(tokens: entry.path).text,
                value: String(decoding: entry.text, as: UTF8.self),
                shown: String(decoding: entry.shown ?? entry.text, as: UTF8.self),
                origin: origin,
                line: line
            )
        }
    }

    /// One line for each value: pointer, value and origin.
    package func text() -> String {
        entries.map { "\($0.pointer) = \($0.shown)  (\($0.origin))\n" }.joined()
    }
}
