import RelayBase
import RelayConfig
import RelayJSON
import RelayRoute

/// A route of a configuration, a request and what becomes of its attempts, as they are imagined.
struct ForecastPlan: Sendable {
    let route: Route
    /// Those that it may use, whose secrets are imagined.
    let credentials: [CredentialDefinition]
    let secrets: [SecretReference: Secret]
    var series: ImaginedSeries
    /// The record of its upstreams, which takes the place of the series; nil where there is none.
    var record: RecordedOutcomes?
    var method = Method.get
    var isKeyed = false
    /// The content that its caller sends; nil has what the route looks for in it.
    var body: [UInt8]?
    /// Whether it is a kept job from its beginning.
    var isKept = false
    /// Whether the route has planned windows, through which it would wait.
    let isClosedAtTimes: Bool
    /// Milliseconds since 1970 UTC at which it begins.
    var wall: Int64
    /// When it was accepted, where that was not at its beginning; and the bounds of its caller's own.
    var accepted: Int64?
    var expires: Int64?
    var maxAttempts: Int?
    /// The target of its request, by which the protections tell classes apart.
    var target = ""
    /// Tells it from the others that go beside it.
    var number: UInt64 = 1
    /// Whether it goes on after an attempt that no record answers, since others go beside it.
    var isAmongOthers = false
    /// Whether chance decides between two unlike outcomes around a moment.
    var drawsDoubts = false

    /// `keepsWindows` has the planned windows closed, where the moment at which it begins is a real one.
    init(
        _ route: Route,
        _ series: ImaginedSeries,
        credentials: [CredentialDefinition] = [],
        secrets: [SecretReference] = [],
        wall: Int64,
        keepsWindows: Bool = false
    ) {
        // The worst cases hold at any time: planned windows are told of beside them.
        var policy = route.policy
        if !keepsWindows { policy.closed = nil }
        self.route = Route(name: route.name, policy: policy)
        isClosedAtTimes = route.policy.closed != nil
        self.series = series
        self.wall = wall
        self.credentials = credentials
        self.secrets = secrets.reduce(into: [:]) { $0[$1] = Secret("imagined") }
        isKept = route.policy.delivery.mode == .durable
        // Only requests that change something are asked about.
        method = isKept || self.route.lookUp != nil ? .post : .get
    }

    /// A route of a configuration, with the credentials and secrets there are.
    init(
        _ route: Route,
        _ series: ImaginedSeries,
        of configuration: Configuration,
        wall: Int64,
        keepsWindows: Bool = false
    ) {
        self.init(
            route,
            series,
            credentials: configuration.credentials,
            secrets: configuration.secrets.map(\.reference),
            wall: wall,
            keepsWindows: keepsWindows
        )
    }

    /// The request as its caller sends it.
    var request: HTTPRequest {
        var fields = HeaderFields()
        if isKeyed { fields.append("Idempotency-Key", "\"imagined\"") }
        let hasBody = body != nil || [Method.post, .put, .patch].contains(method)
        if hasBody {
            fields.append(
                "Content-Type",
                body.map { $0.looksLikeJSON } == false ? "text/plain" : "application/json"
            )
        }
        return HTTPRequest(
            method: method,
            target: target,
            fields: fields,
            body: hasBody ? .bytes(body ?? wantedBody) : .empty
        )
    }

    /// The content with all that the route looks for to ask what became of an attempt.
    private var wantedBody: [UInt8] {
        var body = JSONValue.object([])
        for pointer in route.lookUp?.pointers ?? [] { body.put(.string("imagined"), at: pointer.tokens[...]) }
        return body.encoded()
    }

    /// An answer that the route takes for a success, as far as its rules say how one looks.
    var good: HTTPResponse {
        let policy = route.policy
        var body = ForecastPlan.body(meeting: policy.success)
        if let pointer = policy.response.unwrap, body.value(at: pointer) == nil {
            body.put(.object([]), at: pointer.tokens[...])
        }
        return answer(ForecastPlan.status(meeting: policy.success), body)
    }

    private static func status(meeting rule: SuccessRule) -> Status {
        let statuses = rule.statuses
        if statuses.contains(200) { return 200 }
        let first = statuses.codes.first ?? UInt16((statuses.classes.first ?? .success).rawValue) * 100
        return Status(rawValue: first)
    }

    private static func body(meeting rule: SuccessRule) -> JSONValue {
        var body = JSONValue.object([])
        for check in rule.require {
            switch check.condition {
            case .exists(true): body.put(.bool(true), at: check.pointer.tokens[...])
            case .exists(false): break
            case .equals(let value): body.put(value, at: check.pointer.tokens[...])
            case .isOneOf(let values):
                if let value = values.first { body.put(value, at: check.pointer.tokens[...]) }
            }
        }
        return body
    }

    /// The address of the operation that an imagined upstream begins, below its base.
    static func operation(of upstream: Upstream) -> String { upstream.basePath + "imagined-operation" }

    /// The answer with the operation's address, where one with that status begins an operation and does not name it.
    func naming(_ given: HTTPResponse, of upstream: Upstream) -> HTTPResponse {
        guard let rules = route.follow, rules.mayBegin(given.status) else { return given }
        var answer = given
        let operation = ForecastPlan.operation(of: upstream)
        var body = rules.settings.when.map { ForecastPlan.body(meeting: $0) } ?? .object([])
        switch rules.settings.location {
        case .field(let name)?: answer.fields.append(name.lowercasedText, operation)
        case .pointer(let pointer)?: body.put(.string(operation), at: pointer.tokens[...])
        case nil: answer.fields.append("Operation-Location", operation)
        }
        guard case .empty = given.body, !given.status.forbidsContent else { return answer }
        answer.fields.append("Content-Type", "application/json")
        answer.body = .bytes(body.encoded())
        return answer
    }

    /// The answer by which an upstream says that word; nil where the route does not ask for such a word.
    func answer(_ word: LookUp) -> HTTPResponse? {
        let (asked, followed) = (route.lookUp?.settings, route.follow?.settings)
        switch word {
        case .found: return asked.map { answer(meeting: $0.found) }
        case .absent: return asked.map { answer(meeting: $0.absent) }
        case .done: return followed.map { $0.done.map { answer(meeting: $0) } ?? telling(200, "Succeeded") }
        case .failed: return followed.map { $0.failed.map { answer(meeting: $0) } ?? telling(200, "Failed") }
        case .running: return followed.map { _ in telling(202, "Running") }
        case .unclear, .gone, .unanswered, .told, .untold: return nil
        }
    }

    private func answer(meeting rule: SuccessRule) -> HTTPResponse {
        answer(ForecastPlan.status(meeting: rule), ForecastPlan.body(meeting: rule), rule.contentTypes.first)
    }

    /// A document with a status in it, as operations usually have.
    private func telling(_ status: Status, _ word: String) -> HTTPResponse {
        answer(status, .object([.init("status", .string(word))]))
    }

    /// The answer of a token endpoint with its token of that number.
    func token(number: Int) -> HTTPResponse {
        let name = route.policy.authentication?.credential
        var terms = TokenAnswerTerms()
        if case .oauth2(let settings)? = credentials.first(where: { $0.name == name })?.kind {
            terms = settings.answer
        }
        var body = JSONValue.object([])
        body.put(.string("imagined-\(number)"), at: terms.token.tokens[...])
        return answer(200, body)
    }

    private func answer(_ status: Status, _ body: JSONValue, _ type: String? = nil) -> HTTPResponse {
        var fields = HeaderFields()
        fields.append("Content-Type", type ?? route.policy.success.contentTypes.first ?? "application/json")
        let hasBody = !status.forbidsContent && method != .head
        return HTTPResponse(
            status: status,
            fields: fields,
            body: hasBody ? .bytes(body.encoded()) : .empty
        )
    }
}

extension [UInt8] {
    /// Whether it begins as an object or a list does.
    var looksLikeJSON: Bool {
        first { $0 > 0x20 }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } ?? false
    }
}

extension JSONValue {
    /// Puts a value where a pointer leads, through objects that are made for it; a number leads into a list.
    fileprivate mutating func put(_ value: JSONValue, at tokens: ArraySlice<String>) {
        guard let name = tokens.first else {
            self = value
            return
        }
        var inner = self[name] ?? .null
        inner.put(value, at: tokens.dropFirst())
        if Int(name) != nil, self[name] == nil {
            self = .array([inner])
            return
        }
        guard case .object(var members) = self else {
            self = .object([Member(name, inner)])
            return
        }
        if let place = members.firstIndex(where: { $0.name == name }) {
            members[place].value = inner
        } else {
            members.append(Member(name, inner))
        }
        self = .object(members)
    }
}
