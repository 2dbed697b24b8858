import RelayBase
import RelayRoute

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
