import RelayClient

/// Ends the client with the program: what is under way may end, and nothing new begins.
struct RelayLifecycle: Service {
    let relay: RelayClient

    func run() async throws {
        try? await gracefulShutdown()
        await relay.shutdown(within: .seconds(10))
    }
}

/// A program that sends an invoice for an order, however often it is asked to.
func invoices(_ relay: RelayClient) -> some Hummingbird.ApplicationProtocol {
    let router = Hummingbird.Router()
    router.post("orders/{id}/invoice") { request, context in
        let id = try context.parameters.require("id")
        try await relay.keep(route: "mail", path: "invoices/\(id)", key: "invoice-\(id)")
        return Hummingbird.Response(status: .accepted)
    }
    var application = Hummingbird.Application(router: router)
    application.addServices(RelayLifecycle(relay: relay))
    return application
}
