import RelayCore
import RelayEngine
import RelayHTTP

/// What the head of `POST /v1/stream` asks for.
struct StreamOptions {
    private(set) var order = JobOrder.completion
    /// Jobs under way at once; 1…64.
    private(set) var maxInFlight = 8

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
        guard let mark = head.target.firstIndex(of: "?") else { return }
        var seen: Set<String> = []
        for item in head.target[head.target.index(after: mark)...].split(separator: "&") {
            let name = String(item.prefix { $0 != "=" })
            guard seen.insert(name).inserted else {
                throw Problem(.badTarget, "\(name.prefix(64)) may stand once, and stands twice")
            }
            try read(name, String(item.dropFirst(name.count + 1)))
        }
    }

    private mutating func read(_ name: String, _ value: String) throws(Problem) {
        switch name {
        case "order":
            guard let known = JobOrder(rawValue: value) else {
                throw Problem(.badTarget, "order is completion or input")
            }
            order = known
        case "max_in_flight":
            guard let count = Int(value), (1...64).contains(count) else {
                throw Problem(.badTarget, "max_in_flight is a whole number from 1 to 64")
            }
            maxInFlight = count
        default:
            throw Problem(
                .badTarget,
                "/v1/stream has no parameter \"\(name.prefix(64))\"; it reads order and max_in_flight",
                didYouMean: nearestWord(to: name, among: ["order", "max_in_flight"])
            )
        }
    }
}
