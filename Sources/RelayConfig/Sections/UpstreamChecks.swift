import RelayBase
import RelayJSON
import RelayRoute

extension RouteCheck {
    /// The conditions that must hold between the upstreams of a route, and between them and the rest.
    func checkUpstreams(_ reading: inout ReadContext) {
        guard let list = node["upstreams"]?.value else { return }
        reading.within("upstreams") { reading in
            ConfigurationTable.checkUnique("name", in: list, "upstream", &reading)
            checkUses(list, &reading)
        }
        for (index, element) in list.elements.enumerated() {
            // The draft leaves refused upstreams out, so the places are the node's.
            guard let text = element["url"]?.value.text, let url = try? UpstreamURL(parsing: text) else {
                continue
            }
            let place = node.location("upstreams", "\(index)", "url")
            ConfigurationTable.checkHost(url, allowed: route.allowAddresses, by: "route", at: place, &reading)
            if route.auth != nil {
                ConfigurationTable.checkPlainHTTP(url, at: place, &reading)
            } else if route.allowAddresses.isEmpty, SpecialAddresses.ranges(to: url) == nil {
                // Nothing but public addresses is dialled.
                let message = "requests and their answers cross public networks unencrypted"
                ConfigurationTable.checkPlainHTTP(url, message, at: place, &reading)
            }
        }
        guard case .oauth2(let draft) = route.auth, let url = draft.tokenURL else { return }
        let place = node.location("auth", "token_url")
        ConfigurationTable.checkHost(url, allowed: route.allowAddresses, by: "route", at: place, &reading)
        ConfigurationTable.checkPlainHTTP(url, at: place, &reading)
    }

    private func checkUses(_ list: JSONNode, _ reading: inout ReadContext) {
        let uses = list.elements.map { $0["use"]?.value.text.flatMap(Upstream.Use.init) ?? .always }
        if let first = uses.first, first != .always {
            reading.error(
                "the first upstream is the ordinary target and cannot be \(first.rawValue)",
                at: list.location("0", "use"),
                hint: "put an upstream with \"use\": \"always\" first"
            )
        }
        let constrained = uses.indices.filter { $0 > 0 && uses[$0] == .whenConstrained }
        for index in constrained.dropFirst() {
            reading.error(
                "another upstream is used when_constrained already",
                at: list.location("\(index)", "use")
            )
        }
        if let index = constrained.first, reading.root["constrained"] == nil {
            reading.error(
                "nothing tells when the network is constrained",
                at: list.location("\(index)", "use"),
                hint: "add \"constrained\": {\"when\": [{\"file_exists\": \"/run/waystation/constrained\"}]} "
                    + "beside \"routes\""
            )
        }
    }

    /// Nothing but a failover rule leads to an upstream that is not the first, or asks whether one has cooled down.
    func checkEntries(_ reading: inout ReadContext) {
        guard let list = node["upstreams"]?.value else { return }
        let targets =
            rules.elements.compactMap { $0["failover"]?.value["upstream"]?.value.text }
            + [route.verify?.request.upstream].compactMap(\.self)
        // A target that is not there is reported, and was meant to be one of these.
        let isComplete = targets.allSatisfy { target in route.upstreams.contains { $0.name == target } }
        for (index, element) in list.elements.enumerated() {
            guard let name = element["name"]?.value.text, !targets.contains(name),
                let upstream = route.upstreams.first(where: { $0.name == name })
            else { continue }
            let isRefused = element["use"]?.value.text.map { Upstream.Use(rawValue: $0) == nil } ?? false
            if index > 0, upstream.use != .whenConstrained {
                guard isComplete, !isRefused else { continue }
                reading.warn(
                    "no rule leads to this upstream, so that nothing is ever sent to it",
                    at: node.location("upstreams", "\(index)"),
                    hint: "add {\"name\": \"to-\(name)\", \"on\": [\"connection\", \"timeout\"], "
                        + "\"failover\": {\"upstream\": \"\(name)\"}} to \"recovery\""
                )
            } else if element["cooldown"] != nil, upstream.cooldown > .zero {
                reading.warn(
                    "no failover rule of the route leads to this upstream, so its cooldown means nothing",
                    at: node.location("upstreams", "\(index)", "cooldown")
                )
            }
        }
    }

    /// Pins must be for an upstream of their route.
    func checkPinnedHost(_ reading: inout ReadContext) {
        guard let pins = route.tls.pins, let list = node["upstreams"]?.value else { return }
        var hosts: [String] = []
        for text in list.elements.compactMap({ $0["url"]?.value.text }) {
            // A refused URL has its error already, and may be the one that is meant.
            guard let url = try? UpstreamURL(parsing: text) else { return }
            if url.isTLS { hosts.append(url.host) }
        }
        guard let fault = pins.fault(hosts: hosts) else { return }
        let place = ["tls", "pins"] + (hosts.isEmpty ? [] : ["host"])
        reading.error(fault.message, at: node.location(place), hint: fault.hint)
    }
}
