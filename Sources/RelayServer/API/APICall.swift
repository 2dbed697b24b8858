import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayRoute

/// A request to the relay itself: a resource that exists, by a method it has, from a role that may.
struct APICall {
    let resource: Resource
    let method: Method
    let fields: HeaderFields
    /// Path and query, checked.
    let target: String

    init(_ head: RequestHead, role: Role, isUnix: Bool = true) throws(Problem) {
        let remainder: (text: String, hasEmptySegment: Bool)
        do throws(HTTPParseError) {
            remainder = try RelayTarget.remainder(of: head.target)
        } catch {
            throw Problem(error)
        }
        guard !remainder.hasEmptySegment else {
            throw Problem(.badTarget, "the path has an empty segment; remove the doubled slash")
        }
        target = "/" + remainder.text
        let path = String(target.prefix { $0 != "?" })
        guard let resource = Resource(path: path), isUnix || !resource.isOfUnixSockets else {
            throw Problem(
                .pathNotFound,
                "the relay answers under /r/ROUTE/PATH and /v1/; this path is neither. A client that came here by "
                    + "following a redirect of an upstream was led out of what the route serves (the url of its "
                    + "upstreams), or the route has response.rewrite_location off",
                didYouMean: nearestWord(to: path, among: Resource.paths)
            )
        }
        guard
            resource.methods.contains(head.method)
                || head.method == .head && resource.methods.contains(.get)
        else {
            throw Problem(
                .methodNotAllowed,
                "\(path) does not have the method \(head.method.rawValue)",
                methods: resource.methods + (resource.methods.contains(.get) ? [.head] : [])
            )
        }
        let needed = resource.role(head.method)
        guard role.includes(needed) else {
            throw Problem(
                .notAllowed,
                "\(path) needs the role \(needed.rawValue), and this listener gives \(role.rawValue): use the control socket"
            )
        }
        self.resource = resource
        method = head.method
        fields = head.fields
    }
}

extension ListenerIdentity {
    /// - Throws: `not_allowed` where callers may only look.
    func checkSubmits() throws(Problem) {
        guard role.includes(.submit) else {
            throw Problem(
                .notAllowed,
                "routes need the role submit, and this listener gives \(role.rawValue): use the jobs socket"
            )
        }
    }
}
