import RelayBase
import RelayHTTP

/// Decides who may come in through the loopback port of `waystation ui`, and how far.
///
/// Any program of the machine and any page in its browsers can send something to a loopback port, and by a name of its
/// own that resolves there a page can read what it answers. So the name, the page that asks, and a session decide.
package struct PageGate {
    enum Decision: Equatable {
        /// It goes on to the daemon.
        case pass
        /// The link was right: the browser gets the session, and goes to the page.
        case welcome(cookie: String, clears: Bool)
        /// The session is there: the browser goes to the page.
        case page
        case refuse(Status, String)
    }

    /// The name and port in every address of the page.
    let host: String
    private let isNumeric: Bool
    private let port: UInt16
    private var sessions: [Session] = []
    private var token: String?
    private var end = Instant(nanoseconds: 0)

    /// The session that a browser shows after it came by a link; nobody can guess it.
    private struct Session {
        let secret: String
        var used: Instant
    }

    /// How long a link is good for.
    static let linkLifetime: Duration = .seconds(60)
    /// How long a session lasts of which nothing is heard.
    static let idle: Duration = .seconds(12 * 3_600)
    /// With one more, the one that is idle for longest ends.
    static let maxSessions = 8
    private static let again = "press Enter where it runs, or run it again, for a new link"

    /// `name` makes an origin of its own of each run: what a program has left in a browser that had the port before, a
    /// service worker or a cached script, is of another origin, and the session goes to no other port.
    ///
    /// Without a name it is 127.0.0.1, where none of this holds.
    init(port: UInt16, name: String?) {
        self.port = port
        isNumeric = name == nil
        host = (name ?? "127.0.0.1") + (port == 80 ? "" : ":\(port)")
    }

    /// Below localhost, which browsers look up in themselves.
    package static func name() -> String { "w" + hexadecimal(words: 1) + ".localhost" }

    /// 256 random bits of the kernel.
    private static func secret() -> String { hexadecimal(words: 4) }

    private static func hexadecimal(words: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<words).map { _ in
            let digits = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// A link that is good once; those before it are no longer.
    mutating func link(at now: Instant) -> String {
        let token = PageGate.secret()
        self.token = token
        end = now.advanced(by: PageGate.linkLifetime)
        return "http://\(host)/?token=\(token)"
    }

    mutating func decide(_ head: RequestHead, at now: Instant) -> Decision {
        let path = head.target.prefix { $0 != "?" }
        let isLink = path == "/" && head.target.hasPrefix("/?token=")
        if let refusal = check(head, isLink: isLink) { return refusal }
        if isLink {
            return enter(head, String(head.target.dropFirst("/?token=".count)), at: now)
        }
        guard use(head, at: now) else {
            return .refuse(403, "open the link that waystation ui has printed; \(Self.again)")
        }
        if path == "/" { return .page }
        guard path == "/ui" || path.hasPrefix("/ui/") || path.hasPrefix("/v1/") else {
            return .refuse(404, "waystation ui passes on /ui/ and /v1/, and nothing else")
        }
        return .pass
    }

    /// Everything but the session: nil where the request may come from the page, or from whoever opened the link.
    private func check(_ head: RequestHead, isLink: Bool) -> Decision? {
        guard [.get, .head, .post, .put, .delete].contains(head.method) else {
            return .refuse(405, "the page uses GET, HEAD, POST, PUT and DELETE")
        }
        guard (try? RelayTarget.remainder(of: head.target))?.hasEmptySegment == false else {
            return .refuse(400, "the target is no plain path: waystation ui is no proxy")
        }
        guard head.host?.lowercased() == host else {
            return .refuse(403, "Host is not that of the link; \(Self.again)")
        }
        let origins = head.fields.values(.origin)
        let writes = head.method != .get && head.method != .head
        guard origins.isEmpty ? !writes : origins == ["http://\(host)"] else {
            return .refuse(403, "the request comes from another page than that of waystation ui")
        }
        let sites = head.fields.values(Self.fetchSite)
        // The link may be followed from anywhere, and is opened from a file; who has it could as well type it.
        let isOpened =
            isLink && head.fields.values(Self.fetchMode) == ["navigate"]
            && head.fields.values(Self.fetchDestination) == ["document"]
        guard isOpened || sites.allSatisfy({ $0 == "same-origin" || $0 == "none" && !writes }) else {
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
        if use(head, at: now) { return .page }
        guard let token, PageGate.isSame(text, token) else {
            return .refuse(403, "the link was used already, or is none; \(Self.again)")
        }
        self.token = nil
        guard now < end else { return .refuse(403, "the link is older than a minute; \(Self.again)") }
        if sessions.count == Self.maxSessions,
            let oldest = sessions.indices.min(by: { sessions[$0].used < sessions[$1].used })
        {
            sessions.remove(at: oldest)
        }
        let secret = Self.secret()
        sessions.append(Session(secret: secret, used: now))
        return .welcome(
            cookie: "\(cookieName)=\(secret); Path=/; HttpOnly; SameSite=Strict",
            clears: isNumeric
        )
    }

    /// Whether a request has a session, which it keeps from being idle.
    private mutating func use(_ head: RequestHead, at now: Instant) -> Bool {
        guard let index = session(of: head, at: now) else { return false }
        sessions[index].used = now
        return true
    }

    /// Whether the session of a request is still there.
    func isIn(_ head: RequestHead, at now: Instant) -> Bool { session(of: head, at: now) != nil }

    private func session(of head: RequestHead, at now: Instant) -> Int? {
        let cookies = head.fields.values(Self.cookie).flatMap { $0.split(separator: ";") }
        let shown = cookies.compactMap { cookie -> String? in
            let parts = cookie.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && String(parts[0]).trimmingBlanks == cookieName ? String(parts[1]) : nil
        }
        return sessions.indices.first { index in
            now < sessions[index].used.advanced(by: Self.idle)
                && shown.contains { Self.isSame($0, sessions[index].secret) }
        }
    }

    /// Browsers keep the cookies of 127.0.0.1 by host, whatever the port.
    private var cookieName: String { "waystation-\(port)" }

    /// In a time that does not tell where they differ.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static let cookie = FieldName(of: "cookie")
    private static let fetchSite = FieldName(of: "sec-fetch-site")
    private static let fetchMode = FieldName(of: "sec-fetch-mode")
    private static let fetchDestination = FieldName(of: "sec-fetch-dest")
}

extension FieldName {
    /// One that is known to be a token.
    init(of name: StaticString) {
        guard let field = FieldName("\(name)") else { preconditionFailure("\(name) is no token") }
        self = field
    }
}
