import RelayBase
import Testing

@testable import RelayServer

@Suite("Only the versions that a caller names are named")
struct EntityTagsTests {
    @Test(
        "Tags stand between commas, whole",
        arguments: [
            (["\"v7\""], true), (["\"v6\", W/\"v7\""], false), (["\"v6\"", "\t\"v7\" "], true), (["*"], true),
            (["\"a,b\",\"v7\""], true), (["\"v 7\""], false), (["\"v\t7\""], false), (["v7"], false),
            (["\"v6,\"v7\""], false), (["\"v71\""], false), (["\"\""], false), ([","], false),
        ]
    )
    func named(values: [String], isNamed: Bool) {
        var fields = HeaderFields()
        for value in values { fields.append("If-Match", value) }
        let tags = EntityTags(fields, .ifMatch)
        #expect(!tags.isEmpty && tags.has(version: 7) == isNamed)
        #expect(EntityTags(fields, .ifNoneMatch).isEmpty)
    }

    @Test("A weak tag is good for what a caller has at hand, and not for a change", arguments: [false, true])
    func weak(isChange: Bool) {
        var fields = HeaderFields()
        fields.append(isChange ? "If-Match" : "If-None-Match", "W/\"v7\"")
        #expect(EntityTags(fields, isChange ? .ifMatch : .ifNoneMatch).has(version: 7) == !isChange)
    }
}
