import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayJSON

/// A JSON job, read strictly: an unknown member, a wrong type or a path trick is refused with its place.
struct Submission {
    private(set) var route = ""
    private(set) var method: Method = .post
    private(set) var target = ""
    /// Whether the path has one, which only some routes pass on.
    private(set) var hasEmptySegment = false
    var fields = HeaderFields()
    /// An option that only a job has which is kept on disk.
    var keepingOption: String?
    private(set) var body: [UInt8] = []
    /// The choice of `mode`; nil leaves it to the route and the options.
    private(set) var isAsynchronous: Bool?

    /// Whether the job is kept.
    enum Mode: String, CaseIterable {
        case sync
        case async
    }

    /// Bytes of the name a caller may give one of several jobs.
    static let idLengths = 1...128

    var content: Body { body.isEmpty ? .empty : .bytes(body) }

    init(_ document: [UInt8]) throws(Problem) {
        try self.init(try JSONValue(document, as: "the job", or: .invalidJob), isAlone: true)
    }

    /// Only one of several jobs has an `id`: alone there is no other to tell it from.
    init(_ document: JSONValue, isAlone: Bool) throws(Problem) {
        var reader = SubmissionReader()
        let known = ["route", "mode", "request", "options"] + (isAlone ? [] : ["id"])
        reader.members(document, "", known, hints: SubmissionHints.outside) { reader, name, value in
            switch name {
            case "id":
                guard let id = reader.string(value, "/id"), !Submission.idLengths.contains(id.utf8.count)
                else { break }
                reader.fail("/id", "an id has 1 to 128 bytes")
            case "route": route = reader.string(value, "/route") ?? ""
            case "mode": readMode(value, &reader)
            case "request": readRequest(value, &reader)
            default: readOptions(value, &reader)
            }
        }
        if route.isEmpty { reader.fail("/route", "a job names its route") }
        if isAsynchronous == false, let option = keepingOption {
            reader.fail(
                "/options/\(option)",
                "only a job that is kept has it",
                hint: "leave out mode, or say \"async\""
            )
        }
        try reader.check("the job", or: .invalidJob)
    }

    private mutating func readMode(_ value: JSONValue, _ reader: inout SubmissionReader) {
        guard let word = reader.string(value, "/mode") else { return }
        switch Mode(rawValue: word) {
        case .async?:
            isAsynchronous = true
            fields.append("Prefer", "respond-async")
        case .sync?: isAsynchronous = false
        case nil:
            let hint = word == "durable" ? "say \"async\" for a job that is kept" : nil
            reader.fail("/mode", "mode is sync or async", hint: hint)
        }
    }

    private mutating func readRequest(_ value: JSONValue, _ reader: inout SubmissionReader) {
        var path = ""
        var query: [String] = []
        var bodies = 0
        let known = SubmissionHints.requestMembers
        reader.members(value, "/request", known, hints: SubmissionHints.inRequest) { reader, name, value in
            let pointer = "/request/\(name)"
            switch name {
            case "method":
                guard let text = reader.string(value, pointer) else { break }
                guard !text.isEmpty, text.utf8.count <= 32, text.utf8.allSatisfy(isTokenByte) else {
                    return reader.fail(pointer, "a method is a token, such as POST")
                }
                method = Method(rawValue: text)
            case "path": path = reader.string(value, pointer) ?? ""
            case "query":
                query = reader.strings(value, pointer).map { "\(percentEncoded($0))=\(percentEncoded($1))" }
            case "headers": readHeaders(value, &reader)
            case "json":
                body = value.encoded()
                bodies += 1
                if !fields.contains(.contentType) { fields.append("Content-Type", "application/json") }
            case "text":
                body = Array((reader.string(value, pointer) ?? "").utf8)
                bodies += 1
            default:
                bodies += 1
                guard let text = reader.string(value, pointer) else { break }
                guard let bytes = Base64.decode(text, isCanonical: false) else {
                    return reader.fail(pointer, "this is not base 64 (RFC 4648 §4)")
                }
                body = bytes
            }
        }
        if bodies > 1 { reader.fail("/request", "a request has one of json, text and base64") }
        let place = path.hasPrefix("/") ? path : "/" + path
        let text =
            place
            + (query.isEmpty ? "" : (path.contains("?") ? "&" : "?") + query.joined(separator: "&"))
        do throws(HTTPParseError) {
            let remainder = try RelayTarget.remainder(of: text)
            target = remainder.text
            hasEmptySegment = remainder.hasEmptySegment
        } catch {
            let isPathGood = (try? RelayTarget.remainder(of: place)) != nil
            reader.fail(isPathGood ? "/request/query" : "/request/path", error.message)
        }
    }

    private mutating func readHeaders(_ value: JSONValue, _ reader: inout SubmissionReader) {
        for (name, text) in reader.strings(value, "/request/headers") {
            guard let key = FieldName(name), !Submission.reserved.contains(key.lowercasedText),
                !key.lowercasedText.hasPrefix("waystation-")
            else {
                reader.fail("/request/headers" + pointerToken(name), "this field cannot be set by a job")
                continue
            }
            fields.remove(key)
            if !fields.append(name, text) {
                reader.fail(
                    "/request/headers" + pointerToken(name),
                    "a field value has no control characters"
                )
            }
        }
    }

    /// Framing, routing and hop-by-hop fields are the relay's.
    static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "via", "prefer",
    ]
}
