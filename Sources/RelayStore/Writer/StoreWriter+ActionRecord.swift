import RelayBase
import RelayJobs
import RelayRecords

extension StoreWriter {
    /// Keeps what was done to a job; where the record of what was done before is damaged, it begins anew.
    func keep(_ action: ActionRecord, of seq: Int64) throws(StoreError) {
        var actions: [ActionRecord] = []
        do throws(StoreError) {
            actions = try database.actions(seq)
        } catch {
            guard error.code == .corrupt else { throw error }
            shared.countCorrupt(error)
        }
        actions.keep(action)
        let insert = try database.statement("INSERT OR REPLACE INTO action(seq, record) VALUES(?, ?)")
        insert.bind(1, seq)
        insert.bind(2, actions.sealed(at: seq))
        try insert.run()
    }

    func forgetActions(of seq: Int64) throws(StoreError) {
        let delete = try database.statement("DELETE FROM action WHERE seq = ?")
        delete.bind(1, seq)
        try delete.run()
    }
}
