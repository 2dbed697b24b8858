import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    /// Failure kinds of later versions: refused in `on`, since no rule could ever act on them.
    private static let reservedKinds: Set<String> = ["throttled", "expired"]

    /// The conditions that must hold between the keys of one route.
    static func checkRoute(_ route: RouteDraft, _ node: JSONNode, _ reading: inout ReadContext) {
        noteStaleToken(route, &reading)
        checkTimeouts(route, node, &reading)
        checkUpstreams(route, node, &reading)
        checkPinnedHost(route, node, &reading)
        checkKeys(route, node, &reading)
        var kinds = FailureKind.known.map(\.rawValue)
        kinds +=
            definedKinds(at: "error_types", nil, in: node) + definedKinds(at: "success", "fail", in: node)
        for key in ["quick_recovery", "error_types"] {
            guard let list = node[key]?.value else { continue }
            reading.within(key) { reading in checkWords(in: list, kinds, &reading) }
        }
        var rules = RuleList(list: node["recovery"]?.value, path: reading.path + ["recovery"], taker: nil)
        if rules.list == nil {
            let inherited = reading.root["defaults"]?.value["recovery"]?.value
            rules = RuleList(list: inherited, path: ["defaults", "recovery"], taker: reading.path.last)
        }
        checkEntries(route, node, rules, &reading)
        checkErrorDocuments(route, node, &reading)
        checkRepeats(route, node, rules, &reading)
        checkKeptAnswers(node, rules, &reading)
        if route.policy.neverFails {
            if route.policy.delivery.mode == .durable {
                reading.error(
                    "a route that keeps its requests cannot promise their callers an answer",
                    at: node.location("never_fails"),
                    hint: "remove it, or write \"delivery\": {\"mode\": \"sync\"}"
                )
            } else {
                checkLastLine(node, rules, &reading)
            }
        }
        guard let list = rules.list else { return }
        reading.elsewhere(rules.path) { reading in
            checkRules(route, node, list, kinds, taker: rules.taker, &reading)
        }
    }

    /// The rule that the route has without saying so.
    private static func noteStaleToken(_ route: RouteDraft, _ reading: inout ReadContext) {
        guard let rule = route.staleToken else { return }
        let text = #"{"name":"\#(rule.name)","on":["401"],"refresh_credentials":{"max_times":1}}"#
        let value = try? JSONValue(parsing: Array(text.utf8))
        reading.within("recovery") { reading in
            reading.within(rule.name) { reading in reading.noteDefault(value) }
        }
    }

    /// A key that changes with every attempt protects from nothing.
    private static func checkKeys(_ route: RouteDraft, _ node: JSONNode, _ reading: inout ReadContext) {
        let keys = ["idempotency-key", "webhook-id", route.policy.idempotency.header.lowercased()]
        for (index, step) in route.policy.prepare.enumerated() where step.phase == .attempt {
            for (name, template) in step.fields
            where keys.contains(name.lowercased()) && template.changesWithAttempts {
                reading.error(
                    "\(name) would change with every attempt, so that none could be told to be the same request",
                    at: node.location("prepare", "\(index)", "set_header", name),
                    hint: "set it with \"each\": \"job\""
                )
            }
        }
    }

    static func checkTimeouts(_ route: RouteDraft, _ node: JSONNode, _ reading: inout ReadContext) {
        guard let fault = route.policy.timeouts.fault, node["timeouts"] != nil else { return }
        let key = node["timeouts"]?.value["attempt"] == nil ? "total" : "attempt"
        reading.error(fault, at: node.location("timeouts", key))
    }

    private static func definedKinds(at key: String, _ inner: String?, in node: JSONNode) -> [String] {
        var list = node[key]?.value
        if let inner { list = list?[inner]?.value }
        return list?.elements.compactMap { $0["kind"]?.value.text } ?? []
    }

    /// Reports the words of every `on` in `list` that no failure of the route can be.
    private static func checkWords(in list: JSONNode, _ kinds: [String], _ reading: inout ReadContext) {
        for (index, element) in list.elements.enumerated() {
            guard let words = element["on"]?.value else { continue }
            for (place, word) in words.elements.enumerated() {
                guard let text = word.text, case .kind = FailureMatcher.token(text), !kinds.contains(text)
                else { continue }
                let tokens = ["\(index)", "on", "\(place)"]
                if reservedKinds.contains(text) {
                    reading.error(
                        "\"\(text)\" is not available in this version: remove it",
                        at: list.location(tokens)
                    )
                    continue
                }
                reading.error(
                    "no rule of this route names a failure \"\(printable(text))\"",
                    at: list.location(tokens),
                    hint: FailureMatcher.meant(by: text, kinds: kinds)
                )
            }
        }
    }

    /// The upstream that a failover was most likely meant for, or all it may be for.
    private static func meantUpstream(_ name: String, among upstreams: [String]) -> String? {
        let targets = Array(upstreams.dropFirst())
        if let nearest = nearestWord(to: name, among: targets) { return "did you mean \"\(nearest)\"?" }
        guard !targets.isEmpty else { return nil }
        return "write " + targets.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// A failover leads to an upstream that the job has not been to.
    private static func checkTarget(
        _ name: String,
        _ upstreams: [String],
        _ list: JSONNode,
        _ index: Int,
        taking: String?,
        _ reading: inout ReadContext
    ) {
        let tokens = ["\(index)", "failover", "upstream"]
        if !upstreams.contains(name) {
            reading.error(
                "the route has no upstream named \"\(printable(name))\"",
                at: list.location(tokens),
                hint: taking ?? meantUpstream(name, among: upstreams)
            )
        } else if name == upstreams.first {
            reading.warn(
                "this rule never acts: a job is never sent back to the first upstream",
                at: list.location(tokens),
                hint: taking ?? meantUpstream(name, among: upstreams)
            )
        }
    }

    /// Checks the rules of `list`, which stands at the current path and may be that of the defaults.
    private static func checkRules(
        _ route: RouteDraft,
        _ node: JSONNode,
        _ list: JSONNode,
        _ kinds: [String],
        taker: String?,
        _ reading: inout ReadContext
    ) {
        let taking = taker.map { "route \"\($0)\" takes this rule over" }
        checkUnique("name", in: list, "rule", &reading)
        checkReach(route, list, taking: taking, &reading)
        checkWords(in: list, kinds, &reading)
        let upstreams = node["upstreams"]?.value.elements.compactMap { $0["name"]?.value.text } ?? []
        var ending: JSONNode?
        for (index, element) in list.elements.enumerated() {
            if let name = element["failover"]?.value["upstream"]?.value.text {
                checkTarget(name, upstreams, list, index, taking: taking, &reading)
            }
            if element["refresh_credentials"] != nil, route.auth?.isRefreshable != true,
                (node["auth"] == nil) == (route.auth == nil)
            {
                reading.error(
                    "the route has no credential that can be fetched anew",
                    at: list.location("\(index)", "refresh_credentials"),
                    hint: taking ?? "give it an \"auth\" of an OAuth2 type"
                )
            }
            if isStale(element), node["response"]?.value["cache_last_good"] == nil {
                reading.error(
                    "the route keeps no answers",
                    at: list.location("\(index)", "respond", "as"),
                    hint: taking ?? "give it \"response\": {\"cache_last_good\": {\"max_age\": \"6h\"}}"
                )
            }
            if let ending, !isPassed(ending, by: element) {
                reading.warn(
                    "this rule is never reached: \"\(printable(ending["name"]?.value.text ?? ""))\" ends every failure above it",
                    at: list.location("\(index)")
                )
            }
            if endsEverything(element, route), ending == nil || !isFinal(ending) && isFinal(element) {
                ending = element
            }
            checkAttempts(route, element, list, index, &reading)
            checkDurable(route, element, list, index, taking: taking, &reading)
        }
    }

    private static func checkAttempts(
        _ route: RouteDraft,
        _ element: JSONNode,
        _ list: JSONNode,
        _ index: Int,
        _ reading: inout ReadContext
    ) {
        guard let name = element["name"]?.value.text, let retry = element["retry"]?.value,
            let draft = route.recovery?.first(where: { $0.name == name })?.retry,
            draft.attempts > attemptLimit(route)
        else { return }
        let key = retry["max_attempts"] == nil ? "schedule" : "max_attempts"
        let isOwn = route.policy.delivery.mode == .durable && route.policy.delivery.maxAttempts != nil
        reading.warn(
            "the rule allows \(draft.attempts) attempts, but the route ends after \(attemptLimit(route))",
            at: list.location("\(index)", "retry", key),
            hint: "raise the route's \"\(isOwn ? "delivery.max_attempts" : "max_attempts")\""
        )
    }
}
