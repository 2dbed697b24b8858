package import RelayBase

extension SubmissionOptions {
    /// Adds the fields of a request that say so.
    ///
    /// - Parameters:
    ///   - fields: those of the request.
    ///   - keyName: the idempotency key's name in the interface of the caller, for the error.
    ///   - name: the same of an option.
    /// - Throws: the option and the demand that it does not meet.
    package func add(
        to fields: inout HeaderFields,
        keyName: String = "idempotencyKey",
        _ name: (JobOption) -> String
    ) throws(OptionError) {
        try addKey(to: &fields, keyName)
        var copy = SubmissionOptions()
        for option in JobOption.all {
            guard let texts = option.value.texts(self) else { throw OptionError(option, name) }
            for text in texts {
                guard option.value.read(text, into: &copy), option.write(text, to: &fields) else {
                    throw OptionError(option, name)
                }
            }
        }
        if let (first, second) = JobOption.conflict(in: self) {
            throw OptionError("\(name(first)) and \(name(second)) exclude each other")
        }
    }

    private func addKey(to fields: inout HeaderFields, _ name: String) throws(OptionError) {
        guard let idempotencyKey else { return }
        guard OptionValue.keyLengths.contains(idempotencyKey.utf8.count),
            idempotencyKey.trimmingBlanks == idempotencyKey,
            idempotencyKey.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw OptionError(
                "\(name) must have 1 to 256 bytes of printable ASCII without blanks around it"
            )
        }
        // A string of RFC 9651 §3.3.3.
        let quoted = idempotencyKey.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        fields.set("Idempotency-Key", "\"\(quoted)\"")
    }
}

/// A sentence about an option that does not mean anything.
package struct OptionError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }

    package init(_ option: JobOption, _ name: (JobOption) -> String) {
        self.init("\(name(option)) \(option.value.demand)")
    }
}
