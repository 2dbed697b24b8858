import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface

/// The options in the head of a `POST /v1/stream`.
struct StreamOptions {
    let order: JobOrder
    /// Jobs under way at once.
    let maxInFlight: Int

    static let mostInFlight = 64
    private static let order = Parameter.choice(
        "order",
        JobOrder.allCases.map { ($0.rawValue, $0) },
        "Whether each outcome comes as its job ends, or in the order of the lines."
    )
    static let inFlight = Parameter.number(
        "max_in_flight",
        1...mostInFlight,
        or: 8,
        "Jobs without an outcome, at most; the stream is not read while there are so many."
    )
    static let parameters: [any QueryParameter] = [order, inFlight]

    init(_ head: RequestHead) throws(Problem) {
        if let type = head.fields[.contentType] {
            let media = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
            guard media.lowercased() == "application/x-ndjson" else {
                throw Problem(
                    .unsupportedMediaType,
                    "a stream of jobs is application/x-ndjson, one job a line"
                )
            }
        }
        try head.fields.checkNone(of: "a stream")
        let query = try Query(head.target, StreamOptions.parameters)
        order = try query.value(StreamOptions.order)
        maxInFlight = try query.value(StreamOptions.inFlight)
    }
}

extension HeaderFields {
    /// Refuses the fields of one job where there are several.
    func checkNone(of many: String) throws(Problem) {
        for entry in entries {
            let name = nameText(entry).lowercased()
            guard name == "idempotency-key" || name.hasPrefix("waystation-") else { continue }
            throw Problem(
                .badHeader,
                "on \(many) \(name) belongs into each job: see options and headers there"
            )
        }
    }
}
