import FoundationEssentials
import RelayClient
import RelayClientFoundation
import Testing

@Suite("The client's errors in Foundation", .timeLimit(.minutes(1)))
struct LocalizedErrorTests {
    @Test("An error says in Foundation's words what it says in its own")
    func description() async {
        let client = RelayClient(socketPath: "/tmp/waystation-no-such.sock")
        let error: any Error
        do {
            _ = try await client.send(route: "a")
            Issue.record("somebody answered")
            return
        } catch let found {
            error = found
        }
        #expect((error as? any LocalizedError)?.errorDescription == "\(error)")
        #expect("\(error)".contains("waystation-no-such.sock"))
    }
}
