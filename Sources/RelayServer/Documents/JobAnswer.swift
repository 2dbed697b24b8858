import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

/// An answer inside a job's document.
enum JobAnswer {
    /// Bytes of a body that a document holds.
    static let bodyLimit = 65_536

    /// Leaves the content itself out.
    static func write(
        _ response: HTTPResponse,
        _ content: JSONContent,
        into json: inout JSONObjectWriter
    ) {
        writeHead(response.status, response.fields, into: &json)
        json.object("body") { writer in
            writer.member("size", content.bytes.count)
            writer.gap(content.form.rawValue)
        }
    }

    static func writeHead(
        _ status: Status,
        _ fields: HeaderFields,
        hiding hidden: Set<String> = [],
        into json: inout JSONObjectWriter
    ) {
        json.member("status", status.rawValue)
        write(fields, hiding: hidden, into: &json)
    }

    static func write(
        _ fields: HeaderFields,
        hiding hidden: Set<String>,
        into json: inout JSONObjectWriter
    ) {
        json.array("headers") { list in
            for (name, value) in fields.removingHopByHop().pairs {
                list.array {
                    $0.element(name)
                    $0.element(hidden.contains(name.lowercased()) ? "(redacted)" : value)
                }
            }
        }
    }

    /// A body that is kept: its content where that is short, else where it is to be had.
    static func write(_ body: StoredBody, href: String, into json: inout JSONObjectWriter) {
        json.object("body") { writer in
            switch body {
            case .bytes(let bytes) where bytes.count <= bodyLimit:
                let content = JSONContent(bytes)
                writer.member("size", bytes.count)
                writer.member(content.form.rawValue, json: content.encoded)
            case .bytes, .file:
                writer.member("size", body.length)
                writer.member("href", href)
            case .expunged: writer.member("expired", true)
            }
        }
    }
}
