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
        var responses = replies.map {
            JSONValue.Member($0.status.map { "\($0.rawValue)" } ?? "default", $0.json)
        }
        // A reply that an upstream decides on tells of problems as well.
        if !replies.contains(where: { $0.status == nil }) {
            let codes = Problem.Code.ofEveryRequest + self.problems
            responses += problems.references(codes, besides: replies.compactMap(\.status))
            responses.sort { $0.name < $1.name }
        }
        let parameters = query.map(Operation.parameter) + fields.map(\.json)
        return .object([
            "operationId": .string(id), "tags": .array([.string(tag.rawValue)]), "summary": .string(summary),
            "description": .string(
                (detail.isEmpty ? "" : detail + " ") + "It takes the role \(role.rawValue)."
            ),
            "x-waystation-role": .string(role.rawValue),
            "parameters": parameters.isEmpty ? nil : .array(parameters),
            "requestBody": content.map { media, isRequired in
                .object(["required": .bool(isRequired), "content": .object([media.member])])
            },
            "responses": .object(responses),
        ])
    }

    private static func parameter(_ parameter: any QueryParameter) -> JSONValue {
        let schema = parameter.schema
        return .object([
            "name": .string(parameter.name), "in": .string("query"), "description": .string(parameter.doc),
            "style": schema.isList ? .string("form") : nil, "explode": schema.isList ? .bool(false) : nil,
            "schema": schema.json,
        ])
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

extension Operation.Content {
    fileprivate var member: JSONValue.Member {
        let shown =
            examples.map { JSONValue.Member($0.key, .object(["value": $0.value])) }
            + problems.map { JSONValue.Member($0.name, OpenAPI.reference("examples", $0.name)) }
        return JSONValue.Member(type, .object(["schema": schema.json, "examples": .some(of: shown)]))
    }
}

extension Reply {
    var json: JSONValue {
        .object([
            "description": .string(doc),
            "headers": .some(of: fields.map { JSONValue.Member($0.name, $0.json) }),
            "content": .some(of: content.map(\.member)),
            "links": .some(of: leadsTo.map { JSONValue.Member($0, Reply.link($0)) }),
        ])
    }

    private static func link(_ operation: String) -> JSONValue {
        .object([
            "operationId": .string(operation),
            "parameters": .object([.init(PathParameter.job.name, .string("$response.body#/id"))]),
        ])
    }
}

extension Reply.Field {
    fileprivate var json: JSONValue {
        .object([
            "description": .string(doc), "required": .bool(isCertain), "schema": schema.json,
        ])
    }
}

extension OpenAPI {
    /// Leads to one of the document's components.
    static func reference(_ kind: String, _ name: String) -> JSONValue {
        .object(["$ref": .string("#/components/\(kind)/\(name)")])
    }
}

extension JSONValue {
    /// An object of the members that have a value.
    static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(members.compactMap { name, value in value.map { JSONValue.Member(name, $0) } })
    }

    /// Nil of no members.
    fileprivate static func some(of members: [JSONValue.Member]) -> JSONValue? {
        members.isEmpty ? nil : .object(members)
    }
}
