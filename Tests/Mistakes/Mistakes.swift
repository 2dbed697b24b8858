import RelayFoundation
import RelayKit

// Each line below is wrong and says so in the words that follow it: Tests/documentation compiles them.

struct Dish: Decodable, Sendable {}

func mistakes(_ service: RelayService, id: String, filter: [String: String]) async throws {
    let path: Dish = try await service.execute(Request(.get, "users/" + id))  // error: "users/\(id)"
    _ = PlainRequest<String>(.get, "users/" + "\(id)")  // error: put the value into the path
    let typed: Request<Void, Failure> = Request(.get, "users/" + id)  // error: put the value into the path
    _ = try await service.execute(Request(.get, "users", query: filter))  // error: query: Pairs(dictionary)
    _ = PlainRequest<Void>(.get, "users", query: filter)  // error: query: Pairs(dictionary)
    let dish: Dish = try await service.execute(Request(.get, "x", query: filter))  // error: Pairs(dictionary)
    let accept = Request(.get, "x", headers: [.accept: "text/plain"])  // error: "Accept"
    let token = PlainRequest<Dish>(.get, "x", headers: [.authorization: id])  // error: "Authorization"
    _ = (path, typed, dish, accept, token)
    _ = RecoveryRule.fail(on: [.cancelled])  // error: no rule is asked about a cancelled request
    _ = RecoveryRule.backoff(on: [.connection, .preparation])  // error: mend the request
}

// The same as it should be, and its neighbours: none of it is ambiguous.
func right(_ service: RelayService, id: String, filter: [String: String]) async throws {
    let path: Dish = try await service.execute(Request(.get, "users/\(id)"))
    let text = "users/" + id
    let typed: Request<Void, Failure> = Request(.get, RequestPath(text + "/" + "orders"))
    _ = try await service.execute(Request(.get, "users", query: Pairs(filter)))
    _ = try await service.execute(Request(.get, "users", query: ["full": "1", "bare": nil]))
    _ = try await service.execute(Request(.get, "users", query: [:], headers: ["Accept": "text/plain"]))
    for await outcome in service.outcomes(of: [Request(.get, "a"), Request(.get, "b")], order: .input) {
        _ = outcome.value?.text
    }
    let rule = RecoveryRule.fail(on: [.emptyResponse, .kind(.decoding), .connection, .timeout, 404])
    for await outcome in service.outcomes(of: ["a", "b"].map { PlainRequest<String>(.get, RequestPath($0)) })
    {
        _ = outcome.value
    }
    let disposition: [RecoveryDisposition] = [.stop(Misread()), .stop(Failure("x", sent: .unknown, "x"))]
    _ = (path, typed, rule, disposition)
}

struct Misread: Error {}
