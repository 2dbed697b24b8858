import RelayBase
import RelayConfig
import RelayJSON
import Testing

@testable import waystation

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
    let result = ConfigurationReader.read(
        Array(file.utf8),
        file: "it",
        accounts: AccountResolver(user: { _ in 1 }, group: { _ in 1 }, zoneFile: { _ in nil }),
        wallSeconds: 0
    )
    let configuration = try #require(result.configuration)
    return try Rehearsal(try records(of: jobs), { _ in true }, configuration, { Array(answer($0).utf8) })
}
