import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var delivery: Section<DeliverySettings> {
        Section(
            "delivery",
            "Whether requests are answered or kept, and how those that are kept are delivered.",
            of: DeliverySettings()
        ) {
            Field("mode", .word(meant: ["async": "durable", "respond-async": "durable"]), \.mode) {
                "sync answers when the request is done, unless the caller asks for it to be kept; durable keeps every "
                    + "request on disk and answers 202."
            }
            Field("expires_after", .duration(.seconds(1) ... .seconds(365 * 86_400)), \.expiresAfter) {
                "How long after its acceptance a job may still be delivered; timeouts.total does not bound one."
            }
            Field("ordering", .word(), \.ordering) {
                "Which jobs go one at a time and in their order: those of one user with the same Waystation-Ordering-Key, "
                    + "or all of the route."
            }
            Field("max_attempts", .integer(1...1000), \.maxAttempts) {
                "Attempts of one durable job; the route's max_attempts when it is absent."
            }
            Field("keep_requests", .word(), \.keepsRequests) {
                "Whether the requests of jobs that are over are kept until storage.retention takes them; without its "
                    + "request no job can be retried."
            }
            Field("keep_responses", .word(), \.keepsResponses) {
                "Whether the last answers are kept until storage.retention takes them. Who waits for one that is not kept "
                    + "is told what became of the job, and 202."
            }
            Field("notify", notify.kind, \.notices) {
                "The route that is told how kept jobs end; without the key none is. It counts for jobs that are accepted "
                    + "under it."
            }
        }
    }

    static var signing: ValueKind<SigningSettings> {
        TaggedSection<SigningSettings>(
            "signing",
            "How requests are signed.",
            key: "type",
            [.init("standard_webhooks", standardWebhooks) { $0 }]
        ).kind
    }

    private static var standardWebhooks: Section<SigningSettings> {
        Section(
            "standard_webhooks",
            "Webhook-Id, Webhook-Timestamp and Webhook-Signature on every attempt (Standard Webhooks 1.0.0). The id is "
                + "the job's, so that a receiver can tell what it has had before.",
            of: SigningSettings(secrets: [])
        ) {
            Field.tag("type", "standard_webhooks", "Chooses the kind.")
            Field("secrets", .list(.secret, minimum: 1, maximum: 8), \.secrets, isRequired: true) {
                "What signs, each of them: several while one takes the place of another. whsec_ and base64 of 24 to "
                    + "64 bytes signs with HMAC-SHA256, whsk_ and base64 of a private key with ed25519."
            }
        } check: { draft, node, reading in
            for (index, reference) in draft.secrets.enumerated()
            where draft.secrets[..<index].contains(reference) {
                reading.error("another entry names the same secret", at: node.location("secrets", "\(index)"))
            }
        }
    }
}
