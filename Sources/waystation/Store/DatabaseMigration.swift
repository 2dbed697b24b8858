import RelayBase
import RelayConfig
import RelayFleet
import RelayPosix
import RelayPostgres

/// The migration of a schema in a PostgreSQL database; its library is opened only for that.
struct DatabaseMigration: FleetMigration {
    func migrate(_ order: FleetMigrationOrder) throws(CommandFailure) -> FleetMigrationReport {
        let library: PostgresLibrary
        do throws(PostgresError) { library = try PostgresLibrary.open() } catch {
            throw CommandFailure(.failed, error.message)
        }
        let loop: EventLoop
        do throws(PosixError) { loop = try EventLoop.start(name: "migration") } catch {
            throw CommandFailure(.failed, "cannot start a thread: \(error)")
        }
        defer { loop.stop() }
        let migration = RelayFleet.FleetMigration(try order.settings())
        let done = Handover<Result<RelayFleet.FleetMigration.Standing, StoreError>>()
        loop.spawn {
            do throws(StoreError) {
                let found = try await migration.look(library, on: loop)
                if !order.checksOnly, found.version != FleetSchema.version || !found.invalidIndexes.isEmpty {
                    try await migration.run(library, on: loop)
                }
                done.give(.success(found))
            } catch { done.give(.failure(error)) }
        }
        switch done.take() {
        case .success(let found):
            var steps = found.invalidIndexes.map {
                "rebuild the index \($0), which the server has marked as not usable"
            }
            if found.version ?? 0 < FleetSchema.version {
                steps.insert("make the tables of version \(FleetSchema.version)", at: 0)
            }
            return FleetMigrationReport(
                found: found.version,
                newest: FleetSchema.version,
                steps: steps,
                grants: migration.grants(to: order.role)
            )
        case .failure(let error): throw CommandFailure(.failed, error.message)
        }
    }
}

extension FleetMigrationOrder {
    /// - Throws: where the URL does not say who migrates.
    fileprivate func settings() throws(CommandFailure) -> PostgresSettings {
        guard let user = url.user else {
            throw CommandFailure(.usage, "the URL names no role: postgresql://ROLE@HOST/DATABASE")
        }
        let secret = password
        var settings = PostgresSettings(
            host: url.hosts.first?.name ?? "localhost",
            port: Int(url.hosts.first?.port ?? FleetSettings.port),
            database: url.database ?? FleetSettings.name,
            user: user,
            password: { secret.map { String(decoding: $0.bytes, as: UTF8.self) } },
            schema: schema,
            applicationName: "waystation store migrate"
        )
        settings.others = url.hosts.dropFirst().map { ($0.name, Int($0.port)) }
        return settings
    }
}
