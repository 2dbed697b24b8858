import RelayClient

/// Ends the client with the program.
struct RelayHandler: LifecycleHandler {
    let relay: RelayClient

    func shutdownAsync(_ application: Vapor.Application) async {
        await relay.shutdown(within: .seconds(10))
    }
}

/// The same program with Vapor.
func addInvoices(to application: Vapor.Application, _ relay: RelayClient) {
    application.lifecycle.use(RelayHandler(relay: relay))
    application.post("orders", ":id", "invoice") { request -> Vapor.HTTPStatus in
        let id = try request.parameters.require("id")
        try await relay.keep(route: "mail", path: "invoices/\(id)", key: "invoice-\(id)")
        return .accepted
    }
}
