import RelayBase
import RelayConfig
import RelayJSON
import Testing

@testable import waystation

/// Members of a route without the protections that may hold a job back.
let unbounded = ["circuit_breaker", "retry_budget", "adaptive_concurrency", "throttling"]
    .map { #","\#($0)":{"enabled":false}"# }.joined()

/// The jobs that JSON has, as records.
func records(of jobs: [String]) throws -> JobRecords {
    try JobRecords(parsing: Array("[\(jobs.joined(separator: ","))]".utf8), from: "it")
}

/// Takes the jobs that JSON has through the rules of a file, of which each trial is shown and answered by the caller.
func rehearsal(
    of jobs: [String],
    with file: String,
    _ answer: ([UInt8]) -> String
) throws -> Rehearsal {
    try Rehearsal(try records(of: jobs), { _ in true }, try configuration(file), { Array(answer($0).utf8) })
}

/// The configuration that a file has.
func configuration(_ text: String) throws -> Configuration {
    let result = ConfigurationReader.read(
        Array(text.utf8),
        file: "it",
        accounts: AccountResolver(user: { _ in 1 }, group: { _ in 1 }, zoneFile: { _ in nil }),
        wallSeconds: 0
    )
    return try #require(result.configuration)
}
