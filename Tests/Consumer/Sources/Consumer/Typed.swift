import Foundation
import RelayFoundation
import RelayKit
import RelaySockets

// The calls that a newcomer types first, and what they mean.
extension Main {
    static func typed(_ library: Library) async throws {
        let open = library.open
        let id = "1?admin=1"
        let wanted = "told/1%3Fadmin%3D1"
        try expect(try await open.execute(PlainRequest<String>(.get, "told/\(id)")) == wanted, "text is text")
        try expect(
            try await open.execute(PlainRequest<Data>(.get, ["told", id])) == Data(wanted.utf8),
            "Data is bytes"
        )
        try expect(
            try await open.execute(PlainRequest<[UInt8]>(.get, ["told", id])) == Array(wanted.utf8),
            "and so is [UInt8]"
        )
        let none = try await open.execute(PlainRequest<Book?>(.get, "nothing"))
        try expect(none == nil, "an optional of an empty answer is nil")
        let json = try JSONEncoder().encode(["title": "Emma"])
        let echoed = try await open.execute(PlainRequest<Data>(.post, "echo", content: .raw(json)))
        try expect(echoed == json, "Data goes up as it is")
        let filter = ["tag": "red & blue"]
        try expect(
            try await open.execute(PlainRequest<String>(.get, "told/x", query: Pairs(filter)))
                == "told/x?tag=red%20%26%20blue",
            "a query is made of a dictionary"
        )
    }

    static func told(_ library: Library) async throws {
        do throws(Failure) {
            _ = try await library.open.execute(PlainRequest<Book>(.get, "nothing"))
            throw Failure("none", sent: .answered, "an empty answer was a book")
        } catch {
            try expect(error.kind == .emptyResponse, "an empty answer where a book is wanted has its name")
            try expect(error.url?.hasSuffix("/api/nothing") == true, "a failure says where it was")
            try expect(error.localizedDescription == "\(error)", "and says the same wherever Foundation asks")
        }
        var policy = RoutePolicy(upstreams: [
            try Upstream("http://127.0.0.1:1/", allowedAddresses: ["127.0.0.0/8"])
        ])
        policy.maxAttempts = 2
        policy.timeouts.total = .seconds(2)
        policy.timeouts.attempt = .seconds(2)
        policy.recovery = [.strategy(Always())]
        let outcome = await (try RelayService(policy)).outcome(of: PlainRequest<Void>(.get, "x"))
        try expect(outcome.failure?.kind == .connectionRefused, "a refused port stays refused")
        try expect(
            (3...8).contains(outcome.attempts.count),
            "and is not hammered: \(outcome.attempts.count) in 2 s"
        )
        try expect(outcome.failure?.isPastDeadline == true, "time was wanting")
    }

    /// Retries whatever happens, at once.
    struct Always: RecoveryStrategy {
        func recover(
            from failure: Failure,
            of request: HTTPRequest,
            context: RecoveryContext
        ) async -> RecoveryDisposition { .retry(request, after: .zero) }
    }
}
