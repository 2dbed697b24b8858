import Glibc
import RelayPosix

/// Lives of jobs by a node of a fleet, without HTTP: `RELAY_BENCHMARK=1 swift run -c release FleetBenchmark [WORD] [SECONDS]`.
///
/// Each submitter hands over one job after the other, as callers do that wait for the answer; half of the jobs are sent with
/// their acceptance, the others wait and are claimed. Without a word it prints lives a second with 1, 64 and 256 in flight,
/// and what each has cost the database. `pgbench` compares them by turns with what pgbench makes of the same statements, and
/// `waiting` with those of a node beside whose jobs five million others wait (`WAITING=N` for another number); both end
/// with 1 where the aim is missed. A turn is SECONDS long, and each has `ROUNDS`, five.
let words = Array(CommandLine.arguments.dropFirst())
let seconds = words.compactMap { Int64($0) }.first ?? 10
let rounds = environment("ROUNDS").flatMap { Int($0) } ?? 5
var isMissed = false
switch words.first {
case "pgbench"?: isMissed = try await besidePgbench(seconds: seconds, rounds: rounds)
case "waiting"?:
    let count = environment("WAITING").flatMap { Int($0) } ?? 5_000_000
    isMissed = try await besideWaiting(count, seconds: seconds, rounds: rounds)
default: try await costs(seconds: seconds)
}
exit(isMissed ? 1 : 0)
