import RelayBase
import RelayRoute

/// Signs one attempt with the id of its job and the time (Standard Webhooks 1.0.0).
struct WebhookSigning {
    /// The job's id, the same in every attempt and replay, by which a receiver drops duplicates.
    let id: String
    /// The time of the attempt in seconds since 1970: receivers refuse old ones.
    let wallSeconds: Int64

    static let fieldNames: [FieldName] = [.webhookID, .webhookTimestamp, .webhookSignature]

    /// Bytes of the largest stream that is collected in memory to be signed.
    static let bodyLimit = 16 * 1_048_576

    /// Adds the three fields for `body`.
    ///
    /// - Throws: `preparation` when `body` is a stream, nothing can sign, or no field can hold the signature.
    func sign(
        _ body: Body,
        with settings: SigningSettings,
        by signer: (any MessageSigner)?,
        into fields: inout HeaderFields
    ) throws(Failure) {
        guard let signer else {
            throw .preparation(
                "the route signs its requests, and this service has no signer: use a transport that brings one"
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
