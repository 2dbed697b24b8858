import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute

/// The interface as an OpenAPI 3.1 document, from the tables that the relay itself goes by.
package enum OpenAPI {
    /// The document, indented, ending in a line feed.
    package static let json = document.encodedPretty() + [UInt8(ascii: "\n")]

    static var document: JSONValue {
        var problems = ProblemReplies()
        var paths = APICall.Resource.all.map { path, resource in
            JSONValue.Member(path, item(path, resource, &problems))
        }
        paths.append(JSONValue.Member(Sending.path, Sending.item(&problems)))
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object([
                "title": .string("waystationd"),
                "version": .string("v1"),
                "summary": .string("The HTTP interface of the relay daemon"),
                "description": .string(description),
            ]),
            "servers": .array([
                .object([
                    "url": .string("http://localhost"),
                    "description": .string(
                        "Over a Unix socket, such as /run/waystation/control.sock; the name is not looked at there."
                    ),
                ])
            ]),
            "tags": .array(
                Operation.Tag.allCases.map { tag in
                    .object(["name": .string(tag.rawValue), "description": .string(tag.doc)])
                }
            ),
            "paths": .object(paths),
            "components": .object([
                "schemas": .object(schemas.map { JSONValue.Member($0.name, $0.schema.json) }),
                "responses": .object(problems.components),
                "examples": .object(
                    Problem.Code.allCases.map { code in
                        JSONValue.Member(
                            code.name,
                            .object(["summary": .string(code.title), "value": Problem.example(code).document])
                        )
                    }
                ),
            ]),
        ])
    }

    private static let description = """
        Whatever is sent to /r/{route}/{path} goes to the upstream of that route; the relay's own resources are below \
        /v1/. A listener gives a role to all its callers; x-waystation-role names the one that an operation takes, and \
        each role includes the ones before it: \(Role.allCases.map(\.rawValue).joined(separator: ", ")). HEAD goes with \
        GET. Members of requests that are not known are refused; clients ignore members of answers that they do not \
        know: there may be more of them. waystationd-api(7) tells the rest.
        """

    /// All methods of one resource.
    private static func item(
        _ path: String,
        _ resource: APICall.Resource,
        _ problems: inout ProblemReplies
    ) -> JSONValue {
        var members: [JSONValue.Member] = []
        let named = PathParameter.all.filter { path.contains(text: "{\($0.name)}") }
        if !named.isEmpty { members.append(.init("parameters", .array(named.map(\.json)))) }
        for method in resource.methods {
            let operation = resource.operation(method)
            members.append(
                JSONValue.Member(
                    method.rawValue.lowercased(),
                    operation.json(
                        role: resource.role(method),
                        query: resource.parameters(method) ?? [],
                        &problems
                    )
                )
            )
        }
        return .object(members)
    }
}

extension Operation.Tag {
    fileprivate var doc: String {
        switch self {
        case .daemon: "The daemon itself, and what it tells of itself."
        case .jobs: "Jobs: handing them over, looking at them, acting on them."
        case .routes: "Routes, and what waits for them."
        case .sending: "Requests to upstreams."
        }
    }
}

/// A part of a path that names something.
struct PathParameter {
    let name: String
    let schema: Schema
    let doc: String

    static let job = PathParameter(
        name: "id",
        schema: .job,
        doc: "The id of a job, in either case of letters."
    )
    static let route = PathParameter(name: "route", schema: .route, doc: "The name of a route.")
    static let run = PathParameter(name: "number", schema: .integer(1...), doc: "The number of a run.")
    static let all = [job, route, run]

    var json: JSONValue {
        .object([
            "name": .string(name), "in": .string("path"), "required": .bool(true),
            "description": .string(doc),
            "schema": schema.json,
        ])
    }
}
