import Glibc
import RelayConfig
import RelayJSON
import Testing

/// `RELAY_REGENERATE=1 swift test --filter GeneratedFileTests` writes the files anew.
@Suite("Files made from the field table")
struct GeneratedFileTests {
    @Test("The schema in the tree is the one the table makes")
    func schema() throws {
        try JSONScan.validate(Schema.json.span)
        compare("config/waystation.schema.json", Schema.json)
    }

    @Test("The manual page in the tree is the one the table makes")
    func manualPage() {
        compare("deploy/man/waystation.json.5", Array(ManualPage.text.utf8))
    }

    @Test("Every reference in the schema leads to a definition")
    func references() throws {
        let schema = try JSONValue(parsing: Schema.json)
        guard case .object(let definitions) = schema["$defs"] else {
            Issue.record("no definitions")
            return
        }
        let names = Set(definitions.map { "#/$defs/\($0.name)" })
        let used = references(in: schema)
        #expect(used == names)
    }

    @Test(
        "The files an operator starts from have nothing wrong with them",
        arguments: ["waystation", "waystation.example"]
    )
    func examples(name: String) {
        let result = ConfigurationReader.read(
            packageFile("config/\(name).json"),
            file: "\(name).json",
            accounts: testAccounts,
            wallSeconds: testSeconds
        )
        #expect(Diagnostic.render(result.diagnostics) == "")
        #expect(result.configuration != nil)
    }

    private func compare(_ path: String, _ expected: [UInt8]) {
        if unsafe getenv("RELAY_REGENERATE") != nil { writePackageFile(path, expected) }
        // Not compared in place: a failure would print every byte of both.
        let isFresh = packageFile(path) == expected
        #expect(isFresh, "\(path) is stale")
    }

    private func references(in value: JSONValue) -> Set<String> {
        switch value {
        case .object(let members):
            members.reduce(into: []) { found, member in
                if member.name == "$ref", case .string(let name) = member.value { found.insert(name) }
                found.formUnion(references(in: member.value))
            }
        case .array(let elements): elements.reduce(into: []) { $0.formUnion(references(in: $1)) }
        default: []
        }
    }
}
