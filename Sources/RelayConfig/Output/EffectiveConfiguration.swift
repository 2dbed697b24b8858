import RelayJSON

/// Every value a configuration has, and why it has it.
package struct EffectiveConfiguration: Sendable {
    package struct Entry: Sendable, Equatable {
        /// JSON pointer.
        package var pointer: String
        /// The value as JSON, on one line.
        package var value: String
        /// `default`, `defaults.<section>` or `<file>:<line>`.
        package var origin: String
    }

    package let entries: [Entry]

    init(_ noted: [Reading.Entry], file: String, source: SourceText) {
        entries = noted.map { entry in
            let origin =
                switch entry.origin {
                case .builtIn: "default"
                case .inherited(let section): section
                case .file(let offset): "\(file):\(source.position(of: offset).line)"
                }
            return Entry(
                pointer: JSONPointer(tokens: entry.path).text,
                value: String(decoding: entry.text, as: UTF8.self),
                origin: origin
            )
        }
    }

    /// One line for each value: pointer, value and origin.
    package func text() -> String {
        entries.map { "\($0.pointer) = \($0.value)  (\($0.origin))\n" }.joined()
    }
}
