import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

extension Problem {
    var document: JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: body)
        } catch {
            preconditionFailure("a problem is not JSON")
        }
    }

    /// A problem as it is answered, for the document.
    static func example(_ code: Code) -> Problem {
        let row = code.rawValue
        let names = known[code].map { " " + $0.joined(separator: ", ") } ?? ""
        let named = row.line("Names: ") ?? ""
        var problem = Problem(
            code,
            (row.line("Example: ") ?? "") + names,
            route: named.contains(text: "route") ? "billing" : nil,
            job: named.contains(text: "job") ? JobID(text: "01K9ZQ3V7N4T0C8R5B2M6XW1HD") : nil,
            retryAfter: row.line("Retry-After: ").flatMap { Int64($0) }.map { .seconds($0) },
            didYouMean: row.line("Did-You-Mean: "),
            errors: code == .invalidJob
                ? [("/options/max_attempt", "there is no such member", "did you mean \"max_attempts\"?")] : []
        )
        problem.kind = row.line("Kind: ").map { FailureKind(rawValue: $0) }
        problem.sent = problem.kind == nil ? nil : .neverSent
        return problem
    }

    /// The names that an answer about an unknown one ends with.
    private static let known: [Code: [String]] = [
        .badHeader: RelayFields.known, .badTarget: JobListing.parameters.map(\.name),
    ]
}
