import RelayBase
import RelayJSON

extension ValueKind where Value == SecretReference {
    /// Where a secret is kept; the secret itself is refused and never repeated.
    static var secret: ValueKind {
        let section = secretSection
        return ValueKind(.object(section.objectShape)) { node, _, reading in
            if case .object = node.content {
                guard let draft = section.read(node, over: section.prototype, &reading),
                    let reference = draft.reference
                else { return nil }
                reading.secrets.append(
                    ReadContext.FoundSecret(
                        reference: reference,
                        pointer: JSONPointer(tokens: reading.path),
                        offset: node.range.lowerBound
                    )
                )
                return reference
            }
            reading.mask(node)
            reading.error(
                "a secret may not stand in the configuration",
                at: node.range,
                hint: "write {\"credential\": \"NAME\"} and give it to systemd with LoadCredential=NAME:PATH"
            )
            return nil
        }
    }
}

private struct SecretDraft {
    var credential: String?
    var file: String?
    var environment: String?

    var reference: SecretReference? {
        if let credential { return .credential(credential) }
        if let file { return .file(file) }
        return environment.map { .environment($0) }
    }
}

private var secretSection: Section<SecretDraft> {
    Section(
        "secret",
        "Where a secret is kept. The secret itself never stands in the configuration.",
        of: SecretDraft(),
        choices: [.exactlyOne("credential", "file", "env")]
    ) {
        Field("credential", .credentialFile, \.credential) {
            "Name of a file in the directory systemd passes with LoadCredential=."
        }
        Field("file", .absolutePath, \.file) { "A file that neither its group nor others may read." }
        Field("env", .variableName, \.environment) {
            "An environment variable; readable under /proc, so a file or credential is better."
        }
    } check: { draft, node, reading in
        if draft.environment != nil {
            reading.warn(
                "an environment variable can be read under /proc",
                at: node.location("env"),
                hint: "prefer {\"credential\": …} or {\"file\": …}"
            )
        }
    }
}

extension ValueKind where Value == String {
    fileprivate static var credentialFile: ValueKind {
        .text("the name of a credential", pattern: "^[A-Za-z0-9._-]+$") { text throws(Refusal) in
            let isName = text.utf8.allSatisfy { byte in
                isTokenByte(byte) && byte != UInt8(ascii: "~") && byte != UInt8(ascii: "`")
            }
            guard !text.isEmpty, isName, text.utf8.count <= 255, text != ".", text != ".." else {
                throw Refusal("not the name of a credential", hint: "a file name without slashes")
            }
            return text
        }
    }

    fileprivate static var variableName: ValueKind {
        .text("the name of an environment variable", pattern: "^[A-Za-z_][A-Za-z0-9_]*$") {
            text throws(Refusal) in
            let isName = text.utf8.enumerated().allSatisfy { index, byte in
                // Letters of both cases differ in one bit.
                (byte | 0x20).isSmallLetter || byte == UInt8(ascii: "_") || index > 0 && byte.isDigit
            }
            guard !text.isEmpty, isName, text.utf8.count <= 255 else {
                throw Refusal("not the name of an environment variable")
            }
            return text
        }
    }

    /// A path from the root, without dot segments.
    static var absolutePath: ValueKind {
        .text("an absolute path", pattern: "^/") { text throws(Refusal) in
            try checkAbsolutePath(text, limit: 4095)
        }.writing { .string($0) }
    }

    /// A path the kernel can hold in a socket address (sockaddr_un, unix(7)).
    static var socketPath: ValueKind {
        .text("an absolute path of at most 107 bytes", pattern: "^/.{0,106}$") {
            text throws(Refusal) in try checkAbsolutePath(text, limit: 107)
        }.writing { .string($0) }
    }

    private static func checkAbsolutePath(_ text: String, limit: Int) throws(Refusal) -> String {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Refusal("expected an absolute path", hint: "begin with \"/\"")
        }
        let count = text.utf8.count
        guard count <= limit else {
            throw Refusal("a path of \(count) bytes: at most \(limit) are possible here")
        }
        guard !text.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
            throw Refusal("\".\" and \"..\" may not stand in a path")
        }
        return text
    }
}
