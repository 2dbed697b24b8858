import RelayBase
import RelayJobs
import RelayRecords

extension StoreWriter {
    func pause(_ name: String, _ pause: RoutePause?) throws(StoreError) {
        let route = try route(name)
        guard let pause else {
            let delete = try database.statement("DELETE FROM pause WHERE route = ?")
            delete.bind(1, route)
            return try delete.run()
        }
        let insert = try database.statement("INSERT OR REPLACE INTO pause(route, record) VALUES(?, ?)")
        insert.bind(1, route)
        insert.bind(2, pause.sealed(name))
        try insert.run()
    }
}
