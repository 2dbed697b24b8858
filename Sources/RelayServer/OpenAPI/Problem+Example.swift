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
        let example = code.example
        let names = known[code].map { " " + $0.joined(separator: ", ") } ?? ""
        var problem = Problem(
            code,
            example.detail + names,
            route: example.about.contains(.route) ? "billing" : nil,
            job: example.about.contains(.job) ? JobID(text: "01K9ZQ3V7N4T0C8R5B2M6XW1HD") : nil,
            retryAfter: example.seconds.map { .seconds($0) },
            didYouMean: example.meant,
            errors: example.error.map { [($0.pointer, $0.message, $0.hint)] } ?? []
        )
        problem.kind = example.kind
        problem.sent = example.kind == nil ? nil : .neverSent
        return problem
    }

    /// The names that an answer about an unknown one ends with.
    private static let known: [Code: [String]] = [
        .badHeader: RelayFields.known, .badTarget: JobListing.parameters.map(\.name),
    ]
}
