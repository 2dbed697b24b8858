import Glibc
import RelayBase
import RelayPosix
import RelayStore

// StoreCrasher load DIR [JOBS]   submits, claims and settles until it is killed or JOBS are accepted; tells each
//                                acknowledgement on standard output: "A id", "C id", "S id".
// StoreCrasher early DIR [JOBS]  the same, but tells of jobs before they are on disk.
// StoreCrasher limited DIR BYTES the same as load, with no file larger than BYTES.
// StoreCrasher list DIR          opens the store and tells every job in it: "J id state sum-of-body attempts".
// StoreCrasher bench DIR …       timings; see Tests/Store/bench.
let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    print("usage: StoreCrasher load|early|limited|list|bench DIR …")
    exit(2)
}
let number = arguments.count > 3 ? Int(arguments[3]) : nil
do throws(StoreError) {
    switch arguments[1] {
    case "load": try await load(arguments[2], jobs: number ?? .max)
    case "early": try await load(arguments[2], jobs: number ?? .max, isEarly: true)
    case "limited":
        limitFiles(number ?? 1 << 20)
        try await load(arguments[2], jobs: .max)
    case "list": try await list(arguments[2])
    case "bench": try await bench(arguments[2], Array(arguments.dropFirst(3)))
    default: exit(2)
    }
} catch {
    tell("E \(error.code.rawValue) \(error)")
    exit(1)
}
