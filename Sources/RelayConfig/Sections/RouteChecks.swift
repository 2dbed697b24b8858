import RelayBase
import RelayJSON
import RelayRoute

/// The conditions that must hold between the keys of one route.
struct RouteCheck {
    let route: RouteDraft
    let node: JSONNode
    let rules: RuleList

    init(_ route: RouteDraft, _ node: JSONNode, _ reading: ReadContext) {
        (self.route, self.node) = (route, node)
        rules = RuleList(of: node, reading)
    }

    var policy: RoutePolicy { route.policy }
    var isDurable: Bool { policy.delivery.mode == .durable }

    /// The rule as it was read; nil for one that was refused.
    func draft(of rule: JSONNode) -> RuleDraft? {
        guard let name = rule["name"]?.value.text else { return nil }
        return route.recovery?.first { $0.name == name }
    }

    func run(_ reading: inout ReadContext) {
        noteStaleToken(&reading)
        checkTimeouts(&reading)
        checkUpstreams(&reading)
        checkPinnedHost(&reading)
        checkKeys(&reading)
        for key in ["quick_recovery", "error_types"] {
            guard let list = node[key]?.value else { continue }
            reading.within(key) { reading in checkWords(in: list, &reading) }
        }
        checkEntries(&reading)
        checkErrorDocuments(&reading)
        checkQuickAnswers(&reading)
        checkConstrained(&reading)
        checkRepeats(&reading)
        checkKeptAnswers(&reading)
        checkVerification(&reading)
        checkStreams(&reading)
        checkFollowing(&reading)
        checkHedging(&reading)
        if policy.neverFails, isDurable {
            reading.error(
                "a route that keeps its requests cannot promise their callers an answer",
                at: node.location("never_fails"),
                hint: "remove it, or write \"delivery\": {\"mode\": \"sync\"}"
            )
        } else if policy.neverFails {
            checkLastLine(&reading)
        }
        guard let list = rules.list else { return }
        reading.elsewhere(rules.path) { reading in
            ConfigurationTable.checkUnique("name", in: list, "rule", &reading)
            checkReach(list, &reading)
            checkWords(in: list, &reading)
            checkRules(&reading)
        }
    }

    /// The rule that the route has without saying so.
    private func noteStaleToken(_ reading: inout ReadContext) {
        guard let rule = route.staleToken else { return }
        let text = #"{"name":"\#(rule.name)","on":["401"],"refresh_credentials":{"max_times":1}}"#
        let value = try? JSONValue(parsing: Array(text.utf8))
        reading.within("recovery") { reading in
            reading.within(rule.name) { reading in reading.noteDefault(value) }
        }
    }

    func checkTimeouts(_ reading: inout ReadContext) {
        guard let fault = policy.timeouts.fault, let timeouts = node["timeouts"]?.value else { return }
        let key = timeouts["attempt"] == nil ? "total" : "attempt"
        reading.error(fault, at: node.location("timeouts", key))
    }

    /// The header names that carry a key of a request.
    var keyNames: [String] { ["idempotency-key", "webhook-id", policy.idempotency.header.lowercased()] }

    /// A key that changes with every attempt protects from nothing.
    private func checkKeys(_ reading: inout ReadContext) {
        for (index, step) in policy.prepare.enumerated() where step.phase == .attempt {
            for (name, template) in step.fields
            where keyNames.contains(name.lowercased()) && template.changesWithAttempts {
                reading.error(
                    "\(name) would change with every attempt, so that none could be told to be the same request",
                    at: node.location("prepare", "\(index)", "set_header", name),
                    hint: "set it with \"each\": \"job\""
                )
            }
        }
    }

    /// Failure kinds of later versions: refused in `on`, since no rule could ever act on them.
    private static let reservedKinds: Set<String> = ["throttled", "expired"]

    /// Reports the words of every `on` in `list` that no failure of the route can be.
    private func checkWords(in list: JSONNode, _ reading: inout ReadContext) {
        for (index, element) in list.elements.enumerated() {
            guard let words = element["on"]?.value else { continue }
            checkWords(words, at: { list.location("\(index)", "on", $0) }, &reading)
        }
    }

    /// The same of one `on`, whose words stand at that location.
    func checkWords(
        _ words: JSONNode,
        at location: (String) -> JSONNode.Location,
        _ reading: inout ReadContext
    ) {
        let lists = [node["error_types"]?.value, node["success"]?.value["fail"]?.value]
        let own = lists.flatMap { $0?.elements ?? [] }.compactMap { $0["kind"]?.value.text }
        let kinds = FailureKind.known.map(\.rawValue) + own
        for (place, word) in words.elements.enumerated() {
            guard let text = word.text, case .kind = FailureMatcher.token(text), !kinds.contains(text)
            else { continue }
            if RouteCheck.reservedKinds.contains(text) {
                reading.error(
                    "\"\(text)\" is not available in this version: remove it",
                    at: location("\(place)")
                )
                continue
            }
            reading.error(
                "no rule of this route names a failure \"\(printable(text))\"",
                at: location("\(place)"),
                hint: FailureMatcher.meant(by: text, kinds: kinds)
            )
        }
    }

    /// Checks the rules one by one, where they stand.
    private func checkRules(_ reading: inout ReadContext) {
        var ending: JSONNode?
        for (index, rule) in rules.elements.enumerated() {
            checkTarget(of: rule, index, &reading)
            if rule["refresh_credentials"] != nil, route.auth?.isRefreshable != true,
                (node["auth"] == nil) == (route.auth == nil)
            {
                reading.error(
                    "the route has no credential that can be fetched anew",
                    at: rules.location(index, "refresh_credentials"),
                    hint: rules.taking ?? "give it an \"auth\" of an OAuth2 type"
                )
            }
            if rule.isStale, node["response"]?.value["cache_last_good"] == nil {
                reading.error(
                    "the route keeps no answers",
                    at: rules.location(index, "respond", "as"),
                    hint: rules.taking ?? "give it \"response\": {\"cache_last_good\": {\"max_age\": \"6h\"}}"
                )
            }
            if let ending, !ending.passes(to: rule) {
                reading.warn(
                    "this rule is never reached: \"\(printable(ending["name"]?.value.text ?? ""))\" ends every failure above it",
                    at: rules.location(index)
                )
            }
            if endsEverything(rule), ending == nil || ending?.isFinal == false && rule.isFinal {
                ending = rule
            }
            checkAttempts(of: rule, index, &reading)
            if isDurable { checkDurable(rule, index, &reading) }
        }
    }

    /// A failover leads to an upstream that the job has not been to.
    private func checkTarget(of rule: JSONNode, _ index: Int, _ reading: inout ReadContext) {
        guard let name = rule["failover"]?.value["upstream"]?.value.text else { return }
        let upstreams = node["upstreams"]?.value.elements.compactMap { $0["name"]?.value.text } ?? []
        let location = rules.location(index, "failover", "upstream")
        let hint = rules.taking ?? meantUpstream(name, among: upstreams.dropFirst())
        if !upstreams.contains(name) {
            reading.error("the route has no upstream named \"\(printable(name))\"", at: location, hint: hint)
        } else if name == upstreams.first {
            let message = "this rule never acts: a job is never sent back to the first upstream"
            reading.warn(message, at: location, hint: hint)
        }
    }

    /// The upstream that a failover was most likely meant for, or all it may be for.
    private func meantUpstream(_ name: String, among targets: ArraySlice<String>) -> String? {
        if let nearest = nearestWord(to: name, among: Array(targets)) {
            return "did you mean \"\(nearest)\"?"
        }
        guard !targets.isEmpty else { return nil }
        return "write " + targets.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
    }

    private func checkAttempts(of rule: JSONNode, _ index: Int, _ reading: inout ReadContext) {
        guard let retry = rule["retry"]?.value, let attempts = draft(of: rule)?.retry?.attempts,
            attempts > attemptLimit
        else { return }
        let isOwn = isDurable && policy.delivery.maxAttempts != nil
        reading.warn(
            "the rule allows \(attempts) attempts, but the route ends after \(attemptLimit)",
            at: rules.location(index, "retry", retry["max_attempts"] == nil ? "schedule" : "max_attempts"),
            hint: "raise the route's \"\(isOwn ? "delivery.max_attempts" : "max_attempts")\""
        )
    }
}
