import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute

/// The part of the document about requests to upstreams, which take any method and any content.
enum Sending {
    static let path = "/r/{route}/{path}"

    private static let methods: [Method] = [.get, .put, .post, .delete, .options, .head, .patch]

    static func item(_ problems: inout ProblemReplies) -> JSONValue {
        let rest = PathParameter(
            name: "path",
            schema: .text,
            doc: "Path below the upstream's base, which may have slashes of its own, and the query behind it."
        )
        var members: [JSONValue.Member] = [
            .init("parameters", .array([PathParameter.route.json, rest.json] + fields.map(\.json)))
        ]
        for method in methods {
            let operation = operation(method).json(role: .submit, query: [], &problems)
            members.append(.init(method.rawValue.lowercased(), operation))
        }
        return .object(members)
    }

    private static func operation(_ method: Method) -> Operation {
        let operation = Operation(
            .sending,
            "send" + method.rawValue.prefix(1) + method.rawValue.dropFirst().lowercased(),
            "Send the request to the upstream of a route"
        )
        .says(
            "Method, path, query, fields and content go on as they are. A request that is kept is answered 202, or "
                + "200 for a known key, with an AcceptedJob."
        )
        .gives(.passedOn("The upstream's answer, or one in its stead.", codes))
        guard [.put, .post, .patch].contains(method) else { return operation }
        let charge = Operation.Content(
            type: "*/*",
            schema: .anything,
            examples: ["charge": .object(["amount": .number(JSONNumber(17))])]
        )
        return operation.takes(charge, isRequired: false)
    }

    private static let fields = RelayFields.standards + RelayFields.all

    private static let codes: [Problem.Code] =
        Problem.Code.ofAcceptance + [
            .pathNotFound, .jobState, .upstreamFailed, .invalidResponse, .credentialsFailed, .breakerOpen,
            .upstreamTimeout, .deadlineExceeded, .loop, .bodyExpired,
        ]
}
