import RelayBase
import RelayJSON

/// The result of reading a configuration.
package struct ReadResult: Sendable {
    /// Nil when there is an error among the diagnostics.
    package var configuration: Configuration?
    /// Errors and warnings in the order of their places.
    package var diagnostics: [Diagnostic]
    /// Every value with its origin; nil when there is no configuration, or where it was not asked for.
    package var effective: EffectiveConfiguration?
}

/// Reads a configuration: bytes in, a configuration or everything that is wrong with it out.
package enum ConfigurationReader {
    /// The largest file that is looked at, in bytes.
    package static let sizeLimit = 8 << 20

    /// Whether a route, a credential or a listener could have that name.
    package static func isName(_ text: String) -> Bool { (try? ValueKind<String>.checkName(text)) != nil }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - bytes: the file's content.
    ///   - file: its name, for messages.
    ///   - accounts: looks up the users and groups the file names.
    ///   - wallSeconds: the time, in seconds since 1970, for what the file says about dates.
    ///   - notesValues: whether the effective configuration is asked for; it takes several times as long.
    /// - Returns: the configuration, or every error there is.
    package static func read(
        _ bytes: [UInt8],
        file: String,
        accounts: AccountResolver,
        wallSeconds: Int64,
        notesValues: Bool = false
    ) -> ReadResult {
        guard bytes.count <= sizeLimit else {
            let diagnostic = Diagnostic(
                severity: .error,
                file: file,
                position: JSONPosition(line: 1, column: 1),
                pointer: "",
                message: "the file is larger than \(SizeText.text(sizeLimit))",
                hint: nil,
                excerpt: nil
            )
            return ReadResult(configuration: nil, diagnostics: [diagnostic], effective: nil)
        }
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: bytes)
        } catch {
            let source = SourceText(bytes)
            let finding = ReadContext.Finding(
                isError: true,
                range: error.offset..<error.offset,
                pointer: JSONPointer(tokens: []),
                message: error.message,
                hint: nil
            )
            let excerpts = ExcerptMaker(source: source, masked: SecretMask.ranges(in: bytes))
            let diagnostic = Diagnostic(finding, file: file, excerpts)
            return ReadResult(configuration: nil, diagnostics: [diagnostic], effective: nil)
        }
        var reading = ReadContext(
            root: document.root,
            accounts: accounts,
            wallSeconds: wallSeconds,
            notesValues: notesValues
        )
        return read(document, file: file, &reading)
    }

    private static func read(
        _ document: JSONDocument,
        file: String,
        _ reading: inout ReadContext
    ) -> ReadResult {
        for duplicate in document.duplicates.prefix(ReadContext.findingLimit) {
            reading.mask(duplicate.value)
            reading.elsewhere(document.root.path(to: duplicate.nameRange.lowerBound)) { reading in
                reading.error(
                    "the key \"\(printable(duplicate.name))\" stands here twice",
                    at: duplicate.nameRange
                )
            }
        }
        let section = ConfigurationTable.root
        let draft = section.read(document.root, over: section.prototype, &reading)
        let unknown = reading.unknown.filter { !HarmlessText.isHarmless($0.text) }.map(\.range)
        let masked = reading.masked + unknown + SecretMask.ranges(in: document.source.bytes)
        let excerpts = ExcerptMaker(source: document.source, masked: masked)
        let diagnostics = reading.findings
            .sorted { ($0.range.lowerBound, $0.isError ? 0 : 1) < ($1.range.lowerBound, $1.isError ? 0 : 1) }
            .map { Diagnostic($0, file: file, excerpts) }
        guard let draft, !diagnostics.contains(where: { $0.severity == .error }) else {
            return ReadResult(configuration: nil, diagnostics: diagnostics, effective: nil)
        }
        let secrets = reading.secrets.map { secret in
            SecretUse(
                reference: secret.reference,
                pointer: secret.pointer,
                position: document.source.position(of: secret.offset)
            )
        }
        return ReadResult(
            configuration: Configuration(draft, secrets: secrets),
            diagnostics: diagnostics,
            effective: reading.notesValues
                ? EffectiveConfiguration(reading.entries, file: file, source: document.source) : nil
        )
    }
}

extension JSONNode {
    /// The way to the innermost object or array that holds `offset`.
    fileprivate func path(to offset: Int) -> [String] {
        switch content {
        case .object(let members):
            guard let member = members.first(where: { $0.value.range.contains(offset) }) else { return [] }
            return [member.name] + member.value.path(to: offset)
        case .array(let elements):
            guard let index = elements.firstIndex(where: { $0.range.contains(offset) }) else { return [] }
            return ["\(index)"] + elements[index].path(to: offset)
        default: return []
        }
    }
}
