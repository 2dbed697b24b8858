import RelayBase
import RelayRoute
import Testing

@testable import RelayServer

@Suite("The resources that paths of the API lead to")
struct ResourceTests {
    @Test(
        "Every path that the API tells leads to its own resource, which has a method",
        arguments: APICall.Resource.all.map(\.path)
    )
    func told(path: String) throws {
        let found = try #require(APICall.Resource(path: path))
        let told = try #require(APICall.Resource.all.first { $0.path == path }).resource
        #expect("\(found)" == "\(told)" && !found.methods.isEmpty)
    }

    @Test("No two resources share a path, and no two paths a resource")
    func distinct() {
        let all = APICall.Resource.all
        #expect(
            Set(all.map(\.path)).count == all.count && Set(all.map { "\($0.resource)" }).count == all.count
        )
    }

    @Test(
        "A job's parts and a route's have the methods and the roles that the manual tells",
        arguments: [
            ("/v1/jobs/x", "GET", [Method.get, .delete], Role.submit),
            ("/v1/jobs/x", "DELETE", [.get, .delete], .operate),
            ("/v1/jobs/x/attempts", "GET", [.get], .submit), ("/v1/jobs/x/response", "GET", [.get], .submit),
            ("/v1/jobs/x/response/body", "GET", [.get], .submit),
            ("/v1/jobs/x/request/body", "GET", [.get], .submit),
            ("/v1/jobs/x/content", "DELETE", [.delete], .operate),
            ("/v1/jobs/x/cancel", "POST", [.post], .submit),
            ("/v1/jobs/x/retry", "POST", [.post], .operate), ("/v1/jobs/x/hold", "POST", [.post], .operate),
            ("/v1/jobs/x/release", "POST", [.post], .operate), ("/v1/routes/x", "GET", [.get], .read),
            ("/v1/routes/x/pause", "POST", [.post], .operate),
            ("/v1/routes/x/resume", "POST", [.post], .operate),
            ("/v1/reload", "POST", [.post], .admin), ("/v1/status", "GET", [.get], .read),
            ("/v1/constrained", "PUT", [.get, .put], .operate),
            ("/v1/constrained", "GET", [.get, .put], .read),
        ]
    )
    func parts(path: String, method: String, methods: [Method], role: Role) throws {
        let resource = try #require(APICall.Resource(path: path))
        #expect(resource.methods == methods && resource.role(Method(rawValue: method)) == role)
    }

    @Test(
        "Nothing else leads anywhere",
        arguments: [
            "", "/", "/v1", "/v1/", "/v2/status", "/v1/jobs/", "/v1/jobs//attempts", "/v1/jobs/x/",
            "/v1/jobs/x/drop",
            "/v1/jobs/x/response/", "/v1/jobs/x/response/body/y", "/v1/routes/", "/v1/routes/x/drain",
            "/v1/status/",
            "v1/status", "/V1/status",
        ]
    )
    func nowhere(path: String) {
        #expect(APICall.Resource(path: path) == nil)
    }
}
