import Glibc
import RelayBase
import RelayConfig
import RelayTestSupport
import Synchronization
import Testing

@testable import waystation

@Suite("The schema of a fleet, made from the command line")
struct StoreCommandTests {
    /// A database that takes two steps, and remembers what it was asked.
    private final class Steps: FleetMigration {
        let orders = Mutex<[FleetMigrationOrder]>([])
        let report: FleetMigrationReport

        init(found: Int?, steps: [String]) {
            report = FleetMigrationReport(
                found: found,
                newest: 3,
                steps: steps,
                grants: [
                    "GRANT USAGE ON SCHEMA w TO relay", "GRANT SELECT ON ALL TABLES IN SCHEMA w TO relay",
                ]
            )
        }

        func migrate(_ order: FleetMigrationOrder) throws(CommandFailure) -> FleetMigrationReport {
            orders.withLock { $0.append(order) }
            return report
        }
    }

    private func order(_ words: String...) throws -> FleetMigrationOrder {
        let options = Command.store(Steps(found: 3, steps: [])).options
        return try FleetMigrationOrder(try Arguments(words, of: "store", options: options))
    }

    private func refusal(_ words: String...) -> String {
        let options = Command.store(Steps(found: 3, steps: [])).options
        do throws(CommandFailure) {
            _ = try FleetMigrationOrder(try Arguments(words, of: "store", options: options))
            return ""
        } catch { return "\(error.code): \(error.message) \(error.advice ?? "")" }
    }

    @Test("The words say which database, whose rights, and whether to look only")
    func words() throws {
        let least = try order("migrate", "--url", "postgresql://owner@db.example/jobs")
        #expect(least.url.hosts == [.tcp(name: "db.example", port: 5432)] && least.url.user == "owner")
        #expect(least.url.database == "jobs" && least.schema == "waystation" && least.role == "waystation")
        #expect(!least.checksOnly && least.password == nil)
        let all = try order("migrate", "--url=postgresql://db", "--schema", "w_2", "--role", "a b", "--check")
        #expect(all.schema == "w_2" && all.role == "a b" && all.checksOnly)
    }

    @Test("A word that is missing or wrong is told of, and no password repeated")
    func wrong() {
        #expect(refusal().contains("usage: what is to be done?"))
        #expect(refusal("drop", "--url", "postgresql://db").contains("usage: what is to be done?"))
        #expect(refusal("migrate").contains("which database?"))
        #expect(refusal("migrate", "x", "--url", "postgresql://db").contains("one word too many"))
        let secret = refusal("migrate", "--url", "postgresql://a:hunter2@db")
        #expect(secret.contains("--password-file") && !secret.contains("hunter2"))
        #expect(refusal("migrate", "--url", "postgresql://db", "--schema", "pg_a").contains("pg_"))
        #expect(refusal("migrate", "--url", "postgresql://db", "--role", "").contains("1 to 63 bytes"))
    }

    @Test("A password is the one line of a file that nobody else may read")
    func password() throws {
        let folder = TemporaryFolder()
        let url = "--url=postgresql://db"
        let file = try write("hunter 2\r\n", folder.path + "/password", mode: 0o600)
        #expect(try order("migrate", url, "--password-file", file).password == Secret("hunter 2"))
        let files: [(String, String, mode_t, String)] = [
            ("open", "hunter2\n", 0o640, "by its group"), ("empty", "\n", 0o600, "has no password"),
            ("lines", "hunter2\nb\n", 0o600, "has no password"),
        ]
        for (name, text, mode, words) in files {
            let file = try write(text, folder.path + "/" + name, mode: mode)
            let told = refusal("migrate", url, "--password-file", file)
            #expect(told.contains(words) && !told.contains("hunter2"))
        }
        #expect(refusal("migrate", url, "--password-file", folder.path + "/none").contains("cannot read"))
    }

    /// Writes a file with that mode.
    ///
    /// - Returns: its path.
    private func write(_ text: String, _ path: String, mode: mode_t) throws -> String {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        #expect(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        #expect(fchmod(descriptor, mode) == 0)
        return path
    }

    @Test("A look at a database tells what there is to do by its status, and does nothing")
    func check() throws {
        let steps = Steps(found: 1, steps: ["add the column node to jobs", "index it"])
        let command = Command.store(steps)
        let url = "--url=postgresql://db"
        #expect(try command.run(["migrate", url, "--check"]).rawValue == 1)
        #expect(try command.run(["migrate", url]) == .done)
        #expect(steps.orders.withLock { $0.map(\.checksOnly) } == [true, false])
        #expect(try Command.store(Steps(found: 3, steps: [])).run(["migrate", url, "--check"]) == .done)
        let looked = steps.report.text(of: try order("migrate", url, "--check"))
        #expect(
            looked == "schema waystation is at version 1, and the newest is 3; to do:\n"
                + "  add the column node to jobs\n  index it\n"
        )
        let made = Steps(found: nil, steps: ["make it"]).report.text(
            of: try order("migrate", url, "--role=relay")
        )
        #expect(
            made == """
                schema waystation did not exist, and is at 3 now; done:
                  make it

                The role relay of the daemons needs these rights:

                GRANT USAGE ON SCHEMA w TO relay;
                GRANT SELECT ON ALL TABLES IN SCHEMA w TO relay;

                """
        )
    }
}
