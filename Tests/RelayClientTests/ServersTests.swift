import RelayClient
import Testing

@Suite("Kept jobs from server programs, as the article shows them", .timeLimit(.minutes(1)))
struct ServersTests {
    private let relay: StubRelay

    init() throws {
        relay = try StubRelay(
            .respond { _ in
                .close(
                    "HTTP/1.1 202 Accepted\r\nWaystation-Job: 01K9ZQ3V7N4T0C8R5B2M6XW1HD\r\nContent-Length: 0\r\n\r\n"
                )
            }
        )
    }

    /// The one request that the relay has seen, whose order's number would lead elsewhere if it could.
    private func expectInvoice() {
        #expect(relay.requests.count == 1)
        #expect(relay.requests[0].hasPrefix("POST /r/mail/invoices/7%2F.. HTTP/1.1\r\n"))
        #expect(
            relay.requests[0].contains("\r\nPrefer: respond-async\r\nIdempotency-Key: \"invoice-7/..\"\r\n")
        )
    }

    @Test("A handler of Hummingbird keeps a job in one line, and the client ends with the program")
    func hummingbird() async throws {
        let client = relay.client
        let application = invoices(client)
        let parameters = Hummingbird.Parameters(values: ["id": "7/.."])
        #expect(try await application.answer(at: "orders/{id}/invoice", parameters)?.status == .accepted)
        expectInvoice()
        ShutdownSignal.shared.send()
        for service in application.services { try await service.run() }
        let error = await #expect(throws: RelayClientError.self) { try await client.send(route: "mail") }
        #expect(error?.code == .shutDown)
    }

    @Test("A handler of Vapor does the same")
    func vapor() async throws {
        let client = relay.client
        let application = Vapor.Application()
        addInvoices(to: application, client)
        let handler = try #require(application.handlers["orders/:id/invoice"])
        let request = Vapor.Request(parameters: Vapor.Parameters(values: ["id": "7/.."]))
        #expect(try await handler(request) as? Vapor.HTTPStatus == .accepted)
        expectInvoice()
        for handler in application.lifecycle.handlers { await handler.shutdownAsync(application) }
        let error = await #expect(throws: RelayClientError.self) { try await client.send(route: "mail") }
        #expect(error?.code == .shutDown)
    }
}
