import RelayFoundation
import RelayKit
import RelaySockets

// The patterns of "Using Combine", as this library has them: the article "Examples counted" shows each.

func certain(of service: RelayService, _ show: (String) -> Void) async {
    let book = await service.value(of: .book(7)) { failure in fatalError("\(failure)") }
    show(book.title)
}

struct IPInfo: Decodable {
    var ip: String
}

func address(from service: RelayService, _ show: (String) -> Void) async {
    let info = await service.value(of: Request(.get, "ip")) { _ in IPInfo(ip: "8.8.8.8") }
    show(info.ip)
}

func patient(_ url: String, allowing ranges: [String]) throws -> RelayService {
    let retry = RecoveryRule.backoff(on: [.connection, .timeout], maxAttempts: 4)
    return try RelayService(RoutePolicy(url, allowedAddresses: ranges, recovery: [retry]))
}

func titles(of ids: [Int], from service: RelayService, _ show: (String) -> Void) async {
    for await outcome in service.outcomes(of: ids.map { Request.book($0) }, order: .input) {
        show(outcome.value?.title ?? "-")
    }
}

func adaptive(_ regular: String, _ lowData: String) throws(Refusal) -> RoutePolicy {
    let low = try Upstream(lowData, name: "low", use: .whenConstrained)
    return RoutePolicy(upstreams: [try Upstream(regular), low])
}

func otherwise(_ spare: PlainRequest<Book>) -> RecoveryRule {
    .recovering("spare", on: [404]) { (_: FailedRequest<Book, Failure>, _) in .retry(spare) }
}
