import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute

/// The part of the document about the requests that the relay forwards.
enum Sending {
    static let path = "/r/{route}/{path}"

    // The relay also forwards methods of other names, for which OpenAPI 3.1 has no member, and refuses TRACE and CONNECT.
    private static let methods: [Method] = [.get, .put, .post, .delete, .options, .head, .patch]

    /// The Path Item Object; it adds the problems of its operations to `problems`.
    static func item(_ problems: inout ProblemReplies) -> JSONValue {
        let remainder = PathParameter(
            name: "path",
            schema: .text,
            doc: "The path below the upstream's base. It may contain slashes, and a query may follow."
        )
        var members: [JSONValue.Member] = [
            .init("parameters", .array([PathParameter.route.json, remainder.json] + fields.map(\.json)))
        ]
        for method in methods {
            let document = operation(method).json(role: .submit, query: [], &problems)
            members.append(.init(method.rawValue.lowercased(), document))
        }
        return .object(members)
    }

    private static func operation(_ method: Method) -> Operation {
        // The id is sendGet, sendPost and so on.
        let common = Operation(
            .sending,
            "send" + method.rawValue.prefix(1) + method.rawValue.dropFirst().lowercased(),
            "Send the request to the upstream of a route"
        )
        .says(
            "The relay forwards method, path, query, fields and content unchanged, except for the fields of the "
                + "connection and its own. It answers 202 with an AcceptedJob where it keeps the request, and 200 "
                + "where it knows the idempotency key. On a route with response.stream an event stream that breaks off "
                + "ends with the event waystation-error, whose data is a Problem; one whose head went out before there was "
                + "an answer may bring it as the event waystation-answer, whose data is a StreamedOutcome."
        )
        .gives(.passedOn("The upstream's answer, or one in its stead.", codes))
        // Content of other methods has no defined meaning (RFC 9110 §9.3).
        guard [.put, .post, .patch].contains(method) else { return common }
        let body = Operation.Content(
            type: "*/*",
            schema: .anything,
            examples: ["charge": .object(["amount": .number(JSONNumber(17))])]
        )
        return common.takes(body, isRequired: false)
    }

    private static let fields = RelayFields.standards + RelayFields.all

    private static let codes: [Problem.Code] =
        Problem.Code.ofAcceptance + [
            .pathNotFound, .jobState, .upstreamFailed, .invalidResponse, .credentialsFailed, .breakerOpen,
            .routeClosed,
            .upstreamTimeout, .deadlineExceeded, .loop, .bodyExpired,
        ]
}
