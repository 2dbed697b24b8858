import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

/// The answers that tell of problems: one for each set of codes that an operation may answer with one status.
struct ProblemReplies {
    /// By their names.
    private var replies: [String: JSONValue] = [:]

    var components: [JSONValue.Member] {
        replies.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }
    }

    /// References to the answers that tell of `codes`, but for statuses that the operation tells of itself.
    mutating func references(_ codes: [Problem.Code], besides told: [Status]) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        for (status, codes) in Dictionary(grouping: Set(codes), by: \.status) where !told.contains(status) {
            let sorted = Problem.Code.allCases.filter(codes.contains)
            let name = (["\(status.rawValue)"] + sorted.map(\.name)).joined(separator: ".")
            replies[name] = Self.reply(sorted)
            members.append(
                .init("\(status.rawValue)", OpenAPI.reference("responses", name))
            )
        }
        return members
    }

    private static func reply(_ codes: [Problem.Code]) -> JSONValue {
        let schema = Schema.named("Problem").with(
            "properties",
            .object(["code": Schema.word(codes.map(\.name)).json])
        )
        return Reply(
            status: nil,
            doc: codes.map { $0.title + "." }.joined(separator: " "),
            content: [Operation.Content(type: MediaType.problemJSON, schema: schema, problems: codes)],
            fields: fields(codes)
        ).json
    }

    private static func fields(_ codes: [Problem.Code]) -> [Reply.Field] {
        var fields = [
            Reply.Field(
                name: "Waystation-Source",
                schema: .word(["relay"]),
                isCertain: true,
                doc: "The answer is the relay's own, and no upstream's."
            )
        ]
        if codes.contains(where: \.mayTellWhen) {
            fields.append(
                Reply.Field(
                    name: "Retry-After",
                    schema: .pattern("^[0-9]+$"),
                    doc: "Seconds after which another try may do better."
                )
            )
        }
        if codes.contains(.acceptanceUnknown) { fields.append(.job) }
        if codes == [.methodNotAllowed] {
            fields.append(Reply.Field(name: "Allow", isCertain: true, doc: "The methods that there are."))
        }
        return fields
    }
}

extension Problem.Code {
    /// The problems that may answer any request, whatever it asks for.
    static let ofEveryRequest: [Problem.Code] = [
        .badRequest, .badHeader, .badTarget, .notAllowed, .requestTimeout, .contentTooLarge, .targetTooLong,
        .expectationFailed, .rateLimited, .headTooLarge, .notImplemented, .overloaded, .draining, .notStarted,
        .versionNotSupported,
    ]

    /// The problems that the job store may answer with where it is asked.
    static let ofStore: [Problem.Code] = [
        .storageFailed, .storageUnavailable, .storageStalled, .storageCorrupt,
    ]

    fileprivate var mayTellWhen: Bool { status == 429 || status == 503 || status == 507 || status == 409 }
}
