import RelayCore
import RelayEngine
import RelayHTTP

/// What the head of `POST /v1/stream` asks for.
struct StreamOptions {
    let order: JobOrder
    /// Jobs under way at once; 1…64.
    let maxInFlight: Int

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
        for entry in head.fields.entries {
            let name = head.fields.nameText(entry).lowercased()
            guard name == "idempotency-key" || name.hasPrefix("waystation-") else { continue }
            throw Problem(
                .badHeader,
                "on a stream \(name) belongs into each job: see options and headers there"
            )
        }
        let query = try Query(head.target, ["order", "max_in_flight"])
        order = try query.word("order", JobOrder.allCases.map { ($0.rawValue, $0) }) ?? .completion
        maxInFlight = try query.number("max_in_flight", 1...64) ?? 8
    }
}
