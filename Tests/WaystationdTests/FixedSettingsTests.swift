import RelayConfig
import Testing

@testable import waystationd

@Suite("The settings that wait for a restart")
struct FixedSettingsTests {
    private func settings(_ storage: String) throws -> FixedSettings {
        let result = ConfigurationReader.read(
            Array(#"{"storage": \#(storage), "routes": {}}"#.utf8),
            file: "t.json",
            accounts: AccountResolver(user: { _ in nil }, group: { _ in nil }, zoneFile: { _ in nil }),
            wallSeconds: 0
        )
        return FixedSettings(try #require(result.configuration))
    }

    @Test(
        "A database that is named, left out or reached in another way is told of, and a file that says the same is not",
        arguments: [
            (#"{"postgresql": {"host": "db"}}"#, []), ("{}", ["storage.postgresql"]),
            (#"{"postgresql": {"host": "db", "lease": "1m"}}"#, ["storage.postgresql"]),
            (#"{"postgresql": {"host": "db", "password": {"credential": "p"}}}"#, ["storage.postgresql"]),
            (#"{"postgresql": {"host": "db"}, "shared_users": true}"#, ["storage.shared_users"]),
        ] as [(String, [String])]
    )
    func database(storage: String, expected: [String]) throws {
        let start = try settings(#"{"postgresql": {"host": "db"}}"#)
        #expect(try settings(storage).waitsForRestart(since: start) == expected)
    }
}
