package import RelayJSON

extension JSONError {
    /// The trouble with an answer, in words that follow "it" or "the answer".
    package var trouble: String {
        code == .duplicateName
            ? "has two members of one name in one object, at byte \(offset)"
            : "is not JSON at byte \(offset): \(message)"
    }
}
