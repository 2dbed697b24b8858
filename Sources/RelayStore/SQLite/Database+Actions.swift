import RelayBase
import RelayJobs
import RelayRecords

extension Database {
    package func actions(_ seq: Int64) throws(StoreError) -> [ActionRecord] {
        let select = try statement("SELECT record FROM action WHERE seq = ?")
        select.bind(1, seq)
        defer { select.reset() }
        guard try select.step() else { return [] }
        do throws(RecordReader.Damage) {
            return try [ActionRecord](sealed: select.bytes(0), at: seq)
        } catch { throw .damaged("what was done", "number \(seq)") }
    }
}
