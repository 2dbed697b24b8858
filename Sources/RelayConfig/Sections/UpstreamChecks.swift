import RelayCore
import RelayJSON

extension ConfigurationTable {
    /// What must hold between the upstreams of a route, and between them and the rest.
    static func checkUpstreams(_ route: RouteDraft, _ node: JSONNode, _ reading: inout Reading) {
        guard let list = node["upstreams"]?.value else { return }
        reading.within("upstreams") { reading in
            checkUnique("name", in: list, "upstream", &reading)
            checkUses(list, &reading)
        }
        for (index, element) in list.elements.enumerated() {
            // The draft leaves refused upstreams out, so the places are the node's.
            guard let text = element["url"]?.value.text, let url = try? UpstreamURL(parsing: text) else {
                continue
            }
            let tokens = ["upstreams", "\(index)", "url"]
            checkHost(url, allowed: route.allowAddresses, in: node, at: tokens, &reading)
            if route.auth != nil { checkPlainHTTP(url, in: node, at: tokens, &reading) }
        }
        guard case .oauth2(let draft) = route.auth, let url = draft.tokenURL else { return }
        checkHost(url, allowed: route.allowAddresses, in: node, at: ["auth", "token_url"], &reading)
        checkPlainHTTP(url, in: node, at: ["auth", "token_url"], &reading)
    }

    private static func checkUses(_ list: JSONNode, _ reading: inout Reading) {
        let uses = list.elements.map { $0["use"]?.value.text.flatMap(Upstream.Use.init) ?? .always }
        if let first = uses.first, first != .always {
            reading.error(
                "the first upstream is the ordinary target and cannot be \(first.rawValue)",
                in: list,
                at: ["0", "use"],
                hint: "put an upstream with \"use\": \"always\" first"
            )
        }
        let constrained = uses.indices.filter { $0 > 0 && uses[$0] == .whenConstrained }
        for index in constrained.dropFirst() {
            reading.error(
                "another upstream is used when_constrained already",
                in: list,
                at: ["\(index)", "use"]
            )
        }
        if let index = constrained.first, reading.root["constrained"] == nil {
            reading.error(
                "nothing tells when the network is constrained",
                in: list,
                at: ["\(index)", "use"],
                hint: "add \"constrained\": {\"when\": [{\"file_exists\": \"/run/waystation/constrained\"}]} "
                    + "beside \"routes\""
            )
        }
    }

    /// Only a failover rule asks whether an upstream has cooled down.
    static func checkCooldowns(
        _ route: RouteDraft,
        _ node: JSONNode,
        _ rules: RuleList,
        _ reading: inout Reading
    ) {
        guard let list = node["upstreams"]?.value else { return }
        let targets = rules.elements.compactMap { $0["failover"]?.value["upstream"]?.value.text }
        for (index, element) in list.elements.enumerated() {
            guard element["cooldown"] != nil, let name = element["name"]?.value.text, !targets.contains(name),
                route.upstreams.contains(where: { $0.name == name && $0.cooldown > .zero })
            else { continue }
            reading.warn(
                "no failover rule of the route leads to this upstream, so its cooldown means nothing",
                in: node,
                at: ["upstreams", "\(index)", "cooldown"]
            )
        }
    }
}
