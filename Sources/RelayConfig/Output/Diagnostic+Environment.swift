package import RelayJSON

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
