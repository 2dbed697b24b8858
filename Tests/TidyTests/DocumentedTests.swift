import Testing

@Suite("The declarations that a program can use are documented")
struct DocumentedTests {
    @Test(
        "Every public declaration has a documentation comment",
        arguments: [
            "RelayJSON", "RelayBase", "RelayRoute", "RelayJobs", "RelayCore", "RelayKit", "RelaySockets",
            "RelayTransport", "RelayClient", "RelayInterface", "RelayFoundation",
            "RelayClientFoundation", "RelayTesting", "RelayDoors",
        ]
    )
    func everything(room: String) {
        for path in TidyTests.files("Sources/\(room)") where path.hasSuffix(".swift") {
            for line in PublicDeclarations(TidyTests.text(path)).undocumented {
                Issue.record("\(path):\(line) has no documentation comment")
            }
        }
    }

    @Test(
        "A declaration without one is found",
        arguments: [
            ("public struct A {}", [1]),
            ("/// A.\npublic struct A {\n    public var a = 1\n}", [3]),
            ("/// A.\npublic enum A {\n    case a\n    /// B.\n    case b\n}", [3]),
            ("/// A.\npublic protocol A {\n    func a()\n    /// B.\n    var b: Int { get }\n}", [3]),
            ("@discardableResult\npublic func a() -> Int { 1 }", [2]),
            ("@frozen public enum A {}", [1]),
            ("// A.\npublic let a = 1", [2]),
            ("/// A.\n\npublic let a = 1", [3]),
        ]
    )
    func found(source: String, lines: [Int]) {
        #expect(PublicDeclarations(source).undocumented == lines)
    }

    @Test(
        "A declaration that is documented, or is not public, is not reported",
        arguments: [
            "/// A.\n@discardableResult\npublic func a() -> Int { 1 }",
            "/// A.\n@available(*, unavailable, message: \"b(c)\")\npublic func a() -> Int { 1 }",
            "public import RelayCore", "package struct A {\n    package var a = 1\n}",
            "enum A {\n    case a\n}", "protocol A {\n    func a()\n}",
            "/// A.\npublic enum A {\n    /// B.\n    case b\n    func c() {\n        switch self {\n        case .b: break\n        }\n    }\n}",
        ]
    )
    func leftAlone(source: String) {
        #expect(PublicDeclarations(source).undocumented == [])
    }
}
