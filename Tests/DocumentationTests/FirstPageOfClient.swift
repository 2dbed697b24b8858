import RelayClient

/// Sends a charge through the daemon, and leaves a receipt to it, which it delivers also days later.
func charge(_ order: String, _ json: [UInt8], _ relay: RelayClient) async throws -> Status {
    let answer = try await relay.send(route: "billing", method: .post, path: "charges", body: json)
    try await relay.keep(route: "mail", path: "receipts/\(order)", key: "receipt-\(order)")
    return answer.status
}
