import RelayInterface

/// An id as the daemon writes it; one in small letters is the same.
func jobID(_ word: String, of command: String = "explain") throws(CommandFailure) -> String {
    let id = word.uppercased()
    // The first of the 26 digits holds three bits only.
    guard word.utf8.count == 26, id.utf8.count == 26,
        id.utf8.allSatisfy(Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8).contains),
        id.utf8.first.map({ $0 <= UInt8(ascii: "7") }) ?? false
    else {
        throw .usage(
            "\"\(safe(word))\" is not a job id: 26 digits and letters without I, L, O and U (Crockford's base 32),"
                + " as in the answer's Waystation-Job field",
            of: command
        )
    }
    return id
}
