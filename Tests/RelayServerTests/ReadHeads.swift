import RelayEngine
import RelayHTTP
import RelayInterface
import Testing

/// The head of a request, as a connection finds it; HTTP/1.0 has no `Host` of its own.
func head(
    _ target: String,
    _ fields: [String] = ["Host: localhost"],
    method: String = "GET",
    version: String = "1.1"
) throws -> RequestHead {
    var parser = RequestHeadParser()
    let lines = ["\(method) \(target) HTTP/\(version)"] + fields
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    guard case .head(let head, _) = try parser.parse(bytes.span) else {
        throw Problem(.badRequest, "the head of the test is none")
    }
    return head
}

/// The text that `read` returns, or the code and the places of its refusal.
func outcome(_ read: () throws -> String) throws -> String {
    do {
        return try read()
    } catch let problem as Problem {
        return ([problem.code.name] + problem.errors.map(\.pointer)).joined(separator: " ")
    }
}
