/// The identity, the date and the signature of one attempt (Standard Webhooks 1.0.0).
struct WebhookSignature {
    /// The job's, on every attempt and every replay: by it a receiver knows what it has had before.
    let id: String
    /// When the attempt is made.
    let wallSeconds: Int64

    static let fieldNames: [FieldName] = [.webhookID, .webhookTimestamp, .webhookSignature]

    /// Bytes of a body that may be held to sign it.
    static let bodyLimit = 16 * 1_048_576

    /// Adds the three fields for that content.
    ///
    /// - Throws: `preparation` when the content is still a stream, or there is nothing to sign with.
    func sign(
        _ body: Body,
        with settings: SigningSettings,
        by signer: (any MessageSigner)?,
        into fields: inout HeaderFields
    ) throws(Failure) {
        guard let signer else {
            throw .preparation(
                "the route signs its requests and nothing here can sign: use a transport that brings a signer"
            )
        }
        let content: [UInt8]
        switch body {
        case .empty: content = []
        case .bytes(let bytes): content = bytes
        case .stream:
            throw .preparation(
                "a request is signed with its whole body, and this one is a stream: give it as bytes"
            )
        }
        var message = Array("\(id).\(wallSeconds).".utf8)
        message.append(contentsOf: content)
        let signatures = try signer.signatures(of: message, with: settings)
        fields.set("Webhook-Id", id)
        fields.set("Webhook-Timestamp", String(wallSeconds))
        guard !signatures.isEmpty, fields.set("Webhook-Signature", signatures) else {
            throw .preparation("the signature cannot stand in a field: it is empty or has control characters")
        }
    }
}

// The one wait that signing costs: a body that comes in pieces is awaited before the first attempt.
extension Relay {
    func needsCollecting(_ request: HTTPRequest, _ context: JobContext) -> Bool {
        guard context.route.policy.signing != nil, case .stream = request.body else { return false }
        return true
    }

    /// Begins the job with its request's body in memory; fails when that is too large, or does not come.
    @inline(never)
    func beginCollected(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        since began: Instant? = nil,
        moved: Duration = .zero
    ) async -> Result<Execution, Failure> {
        let start = ports.time.now()
        let collected = await Result { () async throws(Failure) in
            try await collectedForSigning(request, context, since: began)
        }
        let all = moved + start.duration(to: ports.time.now())
        return collected.flatMap { begin($0, context, vault, since: began, moved: all) }
    }

    private func collectedForSigning(
        _ request: HTTPRequest,
        _ context: JobContext,
        since began: Instant?
    ) async throws(Failure) -> HTTPRequest {
        guard case .stream(let source) = request.body else { return request }
        let limit = WebhookSignature.bodyLimit
        let machine = RecoveryMachine(
            route: context.route,
            method: request.method,
            options: context.options,
            now: began ?? ports.time.now(),
            history: context.history
        )
        if let end = machine.end { source.bound(by: end.moment) }
        let (bytes, isWhole) = try await source.beginning(limit: limit)
        guard isWhole else {
            source.cancel()
            throw .preparation(
                "a request is signed with its whole body, which may have \(limit) bytes and has more: send a"
                    + " smaller one, or use a route that does not sign"
            )
        }
        var collected = request
        collected.body = bytes.isEmpty ? .empty : .bytes(bytes)
        return collected
    }
}
