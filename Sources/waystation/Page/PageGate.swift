import RelayCore
import RelayHTTP

/// Who may come in through the loopback port of `waystation ui`, and how far.
///
/// Any program of the machine and any page in its browsers can send something to a loopback port, and by a name of its
/// own that resolves there a page can read what it answers. So the name, the page that asks, and a session decide.
struct PageGate {
    enum Decision: Equatable {
        /// It goes on to the daemon.
        case pass
        /// The link was right: the browser gets the session, and goes to the page.
        case welcome(cookie: String)
        /// The session is there: the browser goes to the page.
        case page
        case refuse(Status, String)
    }

    private let port: UInt16
    private let session: String
    private var token: String?
    private var end = Instant(nanoseconds: 0)

    /// How long a link is good for.
    static let patience: Duration = .seconds(60)
    private static let again = "press Enter where it runs, or run it again, for a new link"

    /// `session` is what a browser shows that came by a link; nobody can guess it.
    init(port: UInt16, session: String = PageGate.secret()) {
        self.port = port
        self.session = session
    }

    /// 256 random bits of the kernel.
    static func secret() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// A link that is good once; those before it are no longer.
    mutating func link(at now: Instant) -> String {
        let token = PageGate.secret()
        self.token = token
        end = now.advanced(by: PageGate.patience)
        return "http://127.0.0.1:\(port)/?token=\(token)"
    }

    mutating func decide(_ head: RequestHead, at now: Instant) -> Decision {
        if let refusal = check(head) { return refusal }
        let path = head.target.prefix { $0 != "?" }
        if path == "/", head.target.hasPrefix("/?token=") {
            return enter(head, String(head.target.dropFirst("/?token=".count)), at: now)
        }
        guard hasSession(head) else {
            return .refuse(403, "open the link that waystation ui has printed; \(Self.again)")
        }
        if path == "/" { return .page }
        guard path == "/ui" || path.hasPrefix("/ui/") || path.hasPrefix("/v1/") else {
            return .refuse(404, "waystation ui passes on /ui/ and /v1/, and nothing else")
        }
        return .pass
    }

    /// Everything but the session: nil where the request may come from the page, or from whoever opened the link.
    private func check(_ head: RequestHead) -> Decision? {
        guard [.get, .head, .post, .put, .delete].contains(head.method) else {
            return .refuse(405, "the page uses GET, HEAD, POST, PUT and DELETE")
        }
        guard (try? RelayTarget.rest(of: head.target))?.hasEmptySegment == false else {
            return .refuse(400, "the target is no plain path: waystation ui is no proxy")
        }
        guard let host = head.host?.lowercased(), names.contains(host) else {
            return .refuse(
                403,
                "Host is not 127.0.0.1:\(port) or localhost:\(port), the names of waystation ui"
            )
        }
        let origins = head.fields.values(.origin)
        let writes = head.method != .get && head.method != .head
        guard origins.isEmpty ? !writes : origins == ["http://\(host)"] else {
            return .refuse(403, "the request comes from another page than that of waystation ui")
        }
        let sites = head.fields.values(Self.fetchSite)
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" && !writes }) else {
            return .refuse(
                403,
                "the request comes from another page than that of waystation ui; type the link, or copy it"
            )
        }
        guard !head.expectsContinue else { return .refuse(417, "waystation ui takes bodies at once") }
        return nil
    }

    private mutating func enter(_ head: RequestHead, _ text: String, at now: Instant) -> Decision {
        guard head.method == .get else { return .refuse(405, "the link is opened with GET") }
        // A reload of the link, by who is in already, takes nothing.
        if hasSession(head) { return .page }
        guard let token, PageGate.isSame(text, token) else {
            return .refuse(403, "the link was used already, or is none; \(Self.again)")
        }
        self.token = nil
        guard now < end else { return .refuse(403, "the link is older than a minute; \(Self.again)") }
        return .welcome(cookie: "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict")
    }

    private func hasSession(_ head: RequestHead) -> Bool {
        let cookies = head.fields.values(Self.cookie).flatMap { $0.split(separator: ";") }
        return cookies.contains { cookie in
            let parts = cookie.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && String(parts[0]).trimmingBlanks == cookieName
                && PageGate.isSame(String(parts[1]), session)
        }
    }

    /// Browsers keep cookies by host, whatever its port.
    private var cookieName: String { "waystation-\(port)" }

    private var names: [String] {
        let names = ["127.0.0.1", "localhost"]
        return names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }

    /// In a time that does not tell where they differ.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static let cookie = FieldName(of: "cookie")
    private static let fetchSite = FieldName(of: "sec-fetch-site")
}

extension FieldName {
    /// One that is known to be a token.
    init(of name: StaticString) {
        guard let field = FieldName("\(name)") else { preconditionFailure("\(name) is no token") }
        self = field
    }
}
