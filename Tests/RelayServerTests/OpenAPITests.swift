import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute
import Testing

@testable import RelayServer

/// That its schemas hold is shown by Tests/Contract, with answers of a real daemon.
@Suite("The OpenAPI document tells what the tables of the API say")
struct OpenAPITests {
    private static let document = OpenAPI.document

    /// Every operation below /v1/ and beside it, but for those of the upstreams: path, method, what is told.
    private static var operations: [(path: String, method: String, operation: JSONValue)] {
        members(document["paths"]).filter { !$0.name.hasPrefix("/r/") }.flatMap { path in
            members(path.value).filter { $0.name != "parameters" }.map { (path.name, $0.name, $0.value) }
        }
    }

    private static func members(_ value: JSONValue?) -> [JSONValue.Member] {
        if case .object(let members)? = value { members } else { [] }
    }

    private static func words(_ value: JSONValue?) -> [String] { (value?.elements ?? []).compactMap(\.text) }

    @Test("Every resource with every method and the role it takes, and no other")
    func resources() {
        let told = Self.operations.map { path, method, operation in
            "\(method) \(path) \(operation["x-waystation-role"]?.text ?? "none")"
        }
        let known = APICall.Resource.all.flatMap { path, resource in
            resource.methods.map {
                "\($0.rawValue.lowercased()) \(path) \(resource.role($0).rawValue)"
            }
        }
        #expect(told.count == Set(told).count && !told.isEmpty)
        #expect(Set(told) == Set(known))
    }

    @Test("The role stands in the words for people as well")
    func roles() {
        for (path, method, operation) in Self.operations {
            let role = operation["x-waystation-role"]?.text ?? "none"
            #expect(
                operation["description"]?.text?.hasSuffix("It takes the role \(role).") == true,
                "\(method) \(path)"
            )
        }
    }

    @Test("Every parameter that a resource reads, and no other")
    func parameters() {
        for (path, resource) in APICall.Resource.all {
            for method in resource.methods {
                let told = Self.document[["paths", path, method.rawValue.lowercased(), "parameters"]]
                let names = (told?.elements ?? []).filter { $0["in"]?.text == "query" }.compactMap {
                    $0["name"]?.text
                }
                #expect(names == (resource.parameters(method) ?? []).map(\.name), "\(method) \(path)")
            }
        }
    }

    @Test("Every method that a relayed request may have")
    func sending() {
        let item = Self.members(Self.document[["paths", Sending.path]])
        #expect(
            Set(item.map(\.name)) == [
                "parameters", "get", "head", "post", "put", "delete", "patch", "options",
            ]
        )
        let fields = Self.document[["paths", Sending.path, "parameters"]]?.elements ?? []
        let names = fields.filter { $0["in"]?.text == "header" }.compactMap { $0["name"]?.text }
        #expect(Set(names) == Set(RelayFields.known + ["Prefer", "Idempotency-Key", "Priority"]))
    }

    @Test("Every code of a problem, with the status and the title it has", arguments: Problem.Code.allCases)
    func codes(code: Problem.Code) {
        let example = Self.document[["components", "examples", code.name, "value"]]
        #expect(Problem.example(code).kind.map(FailureKind.known.contains) != false)
        #expect(example?["code"]?.text == code.name && example?["title"]?.text == code.title)
        #expect(example?["status"]?.integer == Int64(code.status.rawValue))
    }

    @Test("No answer that tells of a problem has a status that is not the code's")
    func replies() {
        for reply in Self.members(Self.document[["components", "responses"]]) {
            let named = reply.name.split(separator: ".").map(String.init)
            let codes = named.dropFirst().compactMap { name in Problem.Code.allCases.first { $0.name == name }
            }
            #expect(codes.count == named.count - 1 && !codes.isEmpty)
            #expect(codes.allSatisfy { "\($0.status.rawValue)" == named[0] })
        }
    }

    @Test("Every type of event, state, reason, action and sort of failure")
    func vocabulary() {
        func words(_ schema: String, _ member: String, _ keyword: String = "enum") -> [String] {
            Self.words(Self.document[["components", "schemas", schema, "properties", member, keyword]])
        }
        #expect(words("Event", "type") == EventKind.allCases.map(\.type))
        #expect(words("Job", "state") == JobState.allCases.map(\.name))
        #expect(words("Job", "reason") == WaitReason.allCases.map(\.name))
        #expect(words("Job", "end", "examples") == EndReason.known.map(\.rawValue))
        #expect(words("BulkAction", "action") == JobAction.allCases.map(\.rawValue))
        #expect(words("Failure", "kind", "examples") == FailureKind.known.map(\.rawValue))
        #expect(words("Failure", "sent") == Sent.allCases.map(\.rawValue))
        #expect(words("Attempt", "next") == Attempt.Next.Word.allCases.map(\.rawValue))
        #expect(words("Problem", "code") == Problem.Code.allCases.map(\.name))
    }

    @Test("The document is served as it is printed")
    func served() throws {
        let served = try ServedLoop()
        let reply = try served.ask("GET", "/v1/openapi.json")
        #expect(reply.status == "200" && reply.has("Content-Type: application/json"))
        #expect(Array(reply.body.utf8) == OpenAPI.json)
    }
}
