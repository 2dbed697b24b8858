import RelayPostgres
import Testing

@Suite("The library of PostgreSQL", .timeLimit(.minutes(5)))
struct LibraryTests {
    @Test("Its absence is one sentence that names the package")
    func missing() async throws {
        // A child of its own, in which no other test has opened it.
        await #expect(processExitsWith: .success) {
            let error = #expect(throws: PostgresError.self) {
                try PostgresLibrary.open("libpq-that-is-not-there.so.5")
            }
            #expect(error?.kind == .missingLibrary && error?.endsConnection == true)
            #expect(error?.message.contains("libpq5") == true && error?.message.contains("\n") == false)
        }
    }

    @Test("One that lacks a function is too old, and the sentence names the function")
    func old() async throws {
        await #expect(processExitsWith: .success) {
            let error = #expect(throws: PostgresError.self) { try PostgresLibrary.open("libz.so.1") }
            #expect(error?.message.contains("PQconnectStartParams") == true)
            #expect(error?.message.contains("libpq5") == true)
        }
    }
}
