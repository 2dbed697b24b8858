package import RelayInterface

/// The places that a configuration leads to, and what a first request would meet at each.
package struct EndpointsDocument: Document {
    /// One thing that was tried of an endpoint.
    package struct Step: Document, Sendable {
        package let name: EndpointStep
        package var result = EndpointResult.ok
        /// Nil of what was not done.
        package var time: Duration?
        /// A sentence without its stop: what was seen, and of what is not well what to do.
        package var detail: String
        package var advice: String?
        /// A word for the table, beside the time.
        package var word: String?

        package init(
            name: EndpointStep,
            result: EndpointResult = .ok,
            time: Duration? = nil,
            detail: String,
            advice: String? = nil,
            word: String? = nil
        ) {
            (self.name, self.result, self.time) = (name, result, time)
            (self.detail, self.advice, self.word) = (detail, advice, word)
        }

        package static let members: [Member<Step>] = members { $0 }

        fileprivate static func members<Root>(
            _ step: @escaping @Sendable (Root) -> Step
        ) -> [Member<Root>] {
            [
                .required("step") { step($0).name }, .required("result") { step($0).result },
                .optional("ms", Duration.schema, "How long it took; absent where it was not done.") {
                    step($0).time
                },
                .required("detail") { step($0).detail },
                .optional("advice", .text, "What there is to do.") { step($0).advice },
            ]
        }
    }

    /// One place, once for all who go there under the same rules.
    package struct Endpoint: Document, Sendable {
        let name: String
        let users: [String]
        let result: EndpointResult
        let address: String?
        let daysLeft: Int?
        let steps: [Step]

        package init(
            _ name: String,
            users: [String],
            _ result: EndpointResult,
            address: String?,
            daysLeft: Int?,
            _ steps: [Step]
        ) {
            (self.name, self.users, self.result) = (name, users, result)
            (self.address, self.daysLeft, self.steps) = (address, daysLeft, steps)
        }

        package static let members: [Member<Endpoint>] = [
            .required("endpoint") { $0.name },
            .required("used_by", .list(.text), "The upstreams and credentials that lead there.") { $0.users },
            .required("result", EndpointResult.schema, "The worst of its steps.") { $0.result },
            .optional("address", .text, "The one that was connected to.") { $0.address },
            .optional(
                "certificate_days",
                .integer,
                "How long the certificate is still good for; negative where it has expired."
            ) { $0.daysLeft },
            .required("steps", .list(Step.schema), "In the order of a request.") { $0.steps },
        ]
    }

    /// The first of what is wrong.
    package struct Cause: Document, Sendable {
        let endpoint: String
        let step: Step

        package init(_ endpoint: String, _ step: Step) { (self.endpoint, self.step) = (endpoint, step) }

        package static let members: [Member<Cause>] =
            [.required("endpoint") { $0.endpoint }] + Step.members { $0.step }
    }

    let file: String
    let cause: Cause?
    let endpoints: [Endpoint]
    let (text, verdict): (String, String)

    package init(file: String, cause: Cause?, _ endpoints: [Endpoint], text: String, verdict: String) {
        (self.file, self.cause, self.endpoints) = (file, cause, endpoints)
        (self.text, self.verdict) = (text, verdict)
    }

    private func count(_ result: EndpointResult) -> Int { endpoints.count { $0.result == result } }

    package static let members: [Member<EndpointsDocument>] = [
        .required("file") { $0.file }, .required("failed") { $0.count(.failed) },
        .required("not_seen") { $0.count(.notSeen) }, .required("warnings") { $0.count(.warning) },
        .optional("cause", Cause.schema, "The first of what is wrong; absent where all is well.") {
            $0.cause
        },
        .required("endpoints", .list(Endpoint.schema), "Token endpoints first.") { $0.endpoints },
        .required("text", .text, "The endpoints as a table, with lines below what is not well.") { $0.text },
        .required("verdict", .text, "One line: how it went, and the first cause.") { $0.verdict },
    ]

    package static let usualLimit: Duration = .seconds(10)

    static let limit = Parameter.duration(
        "timeout",
        atMost: .seconds(30),
        "For all of it; what has not begun by then is not seen. 10s unless it is given."
    )
    static let strict = Parameter.word(
        "strict",
        [("true", true)],
        "Counts warnings as faults."
    )
}
