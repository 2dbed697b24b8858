import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute

extension Operation {
    func json(
        role: Role,
        query: [any QueryParameter],
        _ problems: inout ProblemReplies
    ) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("operationId", .string(id)), .init("tags", .array([.string(tag.rawValue)])),
            .init("summary", .string(summary)),
            .init(
                "description",
                .string((detail.isEmpty ? "" : detail + " ") + "It takes the role \(role.rawValue).")
            ),
            .init("x-waystation-role", .string(role.rawValue)),
        ]
        let parameters = query.map(Operation.parameter) + fields.map(\.json)
        if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
        if let content { members.append(.init("requestBody", content.json)) }
        var responses = replies.map {
            JSONValue.Member($0.status.map { "\($0.rawValue)" } ?? "default", $0.json)
        }
        // A reply that an upstream decides on tells of problems as well.
        if !replies.contains(where: { $0.status == nil }) {
            let codes = Problem.Code.ofEveryRequest + self.problems
            responses += problems.references(codes, besides: replies.compactMap(\.status))
            responses.sort { $0.name < $1.name }
        }
        members.append(.init("responses", .object(responses)))
        return .object(members)
    }

    private static func parameter(_ parameter: any QueryParameter) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(parameter.name)), .init("in", .string("query")),
            .init("description", .string(parameter.doc)),
        ]
        let schema = parameter.schema
        if schema.isList {
            members += [.init("style", .string("form")), .init("explode", .bool(false))]
        }
        members.append(.init("schema", schema.json))
        return .object(members)
    }
}

extension RequestField {
    var json: JSONValue {
        .object([
            "name": .string(name), "in": .string("header"), "description": .string(doc),
            "schema": schema.json,
        ])
    }
}

extension RequestContent {
    var json: JSONValue {
        .object([
            "required": .bool(isRequired),
            "content": .object([
                JSONValue.Member(type, OpenAPI.media(schema, examples))
            ]),
        ])
    }
}

extension Reply {
    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("description", .string(doc))]
        if !fields.isEmpty {
            members.append(.init("headers", .object(fields.map { JSONValue.Member($0.name, $0.json) })))
        }
        if !content.isEmpty {
            members.append(
                .init(
                    "content",
                    .object(
                        content.map { .init($0.type, OpenAPI.media($0.schema, $0.examples, $0.problems)) }
                    )
                )
            )
        }
        if !leadsTo.isEmpty {
            members.append(.init("links", .object(leadsTo.map { .init($0.operation, Reply.link($0)) })))
        }
        return .object(members)
    }

    private static func link(_ link: (operation: String, pointer: String)) -> JSONValue {
        .object([
            "operationId": .string(link.operation),
            "parameters": .object([
                .init(PathParameter.job.name, .string("$response.body#\(link.pointer)"))
            ]),
        ])
    }
}

extension Reply.Field {
    var json: JSONValue {
        .object([
            "description": .string(doc), "required": .bool(isCertain), "schema": schema.json,
        ])
    }
}

extension OpenAPI {
    static func media(
        _ schema: Schema,
        _ examples: [(name: String, value: JSONValue)],
        _ problems: [Problem.Code] = []
    ) -> JSONValue {
        var members: [JSONValue.Member] = [.init("schema", schema.json)]
        let shown =
            examples.map { JSONValue.Member($0.name, .object(["value": $0.value])) }
            + problems.map { JSONValue.Member($0.name, reference("examples", $0.name)) }
        if !shown.isEmpty { members.append(.init("examples", .object(shown))) }
        return .object(members)
    }

    /// Leads to one of the document's components.
    static func reference(_ kind: String, _ name: String) -> JSONValue {
        .object(["$ref": .string("#/components/\(kind)/\(name)")])
    }
}
