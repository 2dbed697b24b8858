import RelayBase
import RelayJobs
import RelayRecords

extension StoreReader {
    func pauses() throws(StoreError) -> [String: RoutePause] {
        try read { () throws(StoreError) in
            let names = try routeNames()
            let select = try database.statement("SELECT route, record FROM pause")
            defer { select.reset() }
            var found: [String: RoutePause] = [:]
            while try select.step() {
                if let (name, pause) = try? RoutePause.read(select.bytes(1)) {
                    found[name] = pause
                } else if let name = names[select.int(0)] {
                    // To send nothing is safe, and the operator can end it.
                    shared.countCorrupt()
                    found[name] = .unreadable
                } else {
                    // Of no route that has a name: nothing of it can be sent.
                    shared.countCorrupt()
                }
            }
            return found
        }
    }
}
