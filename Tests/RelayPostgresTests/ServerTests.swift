import Glibc
import PostgresTestSupport
import Testing

@Suite("The tests' own PostgreSQL", .timeLimit(.minutes(5)))
struct ServerTests {
    @Test("It is gone with its folder when the process of the tests is killed")
    func killed() async throws {
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let server = try await PostgresServer.make()
            _ = try PgBouncer(before: server)
            let text = Array("folder:\(server.folder)\n".utf8)
            unsafe _ = write(1, text, text.count)
            kill(getpid(), SIGKILL)
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("folder:") })
        let folder = String(line.dropFirst(7))
        #expect(folder.contains("waystation-postgres-"))
        while unsafe access(folder, F_OK) == 0 { _ = poll(nil, 0, 10) }
    }

    @Test(
        "It runs as a user without rights where the tests run as root, with fsync, and keeps what it has over a stop"
    )
    func life() async throws {
        let server = try await PostgresServer.make()
        #expect(try server.sql("SHOW fsync") == "on")
        var facts = stat()
        unsafe _ = stat("\(server.folder)/data", &facts)
        #expect(facts.st_uid != 0)
        let database = try server.makeDatabase()
        for stop in [PostgresServer.Stop.fast, .immediate] {
            try server.sql("CREATE TABLE \(stop.rawValue) ()", in: database)
            try server.stop(stop)
            try server.start()
        }
        #expect(
            try server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", in: database) == "2"
        )
    }
}
