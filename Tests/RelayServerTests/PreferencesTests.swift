import RelayBase
import RelayEngine
import RelayServer
import Testing

@Suite("A caller's preferences are applied as they are said to be")
struct PreferencesTests {
    private static let values: [([String], String?)] = [
        (["respond-async"], "respond-async"), (["Respond-Async;a=b , WAIT=5"], "respond-async, wait=5"),
        (["wait=\"05\""], "wait=5"), (["wait=5", "wait=6, respond-async"], "respond-async, wait=5"),
        (["wait=301"], "wait=300"), (["wait=1000000000000"], "wait=300"), (["wait=0"], "wait=0"),
        (["\"respond-async\""], nil), (["respond - async"], nil), (["respond-async=1"], nil),
        (["wait=+5"], nil), (["wait=\"5"], nil), (["wait=5 6"], nil), (["wait=\"\""], nil), (["=5,;,="], nil),
    ]

    @Test("The preferences that are said to be applied are those that the gate heeds", arguments: values)
    func applied(values: [String], applied: String?) throws {
        var fields = HeaderFields()
        for value in values { fields.append("Prefer", value) }
        let preferences = Preferences(fields)
        #expect(preferences.applied == applied)
        let read = try RequestTerms(fields)
        #expect(read.wantsDurable == preferences.isAsynchronous)
        #expect(read.durable.wait == preferences.waitDuration)
    }
}
