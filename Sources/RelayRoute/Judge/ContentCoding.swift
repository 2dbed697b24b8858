import RelayBase

/// Content codings that the transport leaves as they are.
enum ContentCoding {
    /// Names that may be shown: those of the registry (RFC 9110 §8.4.1).
    private static let registered: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress",
        "x-gzip", "zstd",
    ]

    /// The coding that an answer is still in, in words; nil for one that can be read as it is.
    static func unread(_ fields: HeaderFields) -> String? {
        let codings = fields.values(.contentEncoding).flatMap { $0.split(separator: ",") }
            .map { $0.trimming { $0 == " " || $0 == "\t" }.lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
        guard !codings.isEmpty else { return nil }
        guard codings.allSatisfy(registered.contains), codings.count <= 4 else {
            return "a coding of its own"
        }
        return "the coding\(codings.count == 1 ? "" : "s") \(codings.joined(separator: ", "))"
    }
}

extension Substring {
    fileprivate func trimming(_ isBlank: (Character) -> Bool) -> Substring {
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
