public import RelayJSON

// Here and not beside the type: a literal needs the import of the module that makes it possible, and a program imports
// RelayKit anyway.
extension JSONPointer: ExpressibleByStringLiteral {
    /// Reads a pointer that is written in the source: `"/data"`.
    ///
    /// One that is no pointer is a mistake in the program and ends it.
    public init(stringLiteral text: String) {
        do throws(JSONPointerError) {
            try self.init(parsing: text)
        } catch {
            preconditionFailure("\"\(text)\" is no JSON pointer: \(error.message)")
        }
    }
}
