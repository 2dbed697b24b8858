import RelayBase
import RelayJSON
import RelayRoute

/// One entry of `constrained.when`.
struct ConstrainedSourceDraft {
    var file: String?
    var control: Bool?
}

struct ConstrainedDraft {
    var when: [ConstrainedSourceDraft] = []
}

extension ConfigurationTable {
    static var constrained: Section<ConstrainedDraft> {
        Section(
            "constrained",
            "What tells that the network is constrained: upstreams that are used when_constrained then take the "
                + "place of the first one of their route, and requests wait, are refused or are lighter where their route's "
                + "constrained, or their own word, says so. Any of the sources is enough.",
            of: ConstrainedDraft()
        ) {
            Field("when", .list(source.kind, minimum: 1, maximum: 20), \.when, isRequired: true) {
                "The sources."
            }
        } check: { draft, node, reading in
            guard let list = node["when"]?.value else { return }
            reading.within("when") { reading in
                checkUnique("file_exists", in: list, "source", &reading)
                let controls = list.elements.enumerated().filter { $0.element["control"] != nil }
                for (index, _) in controls.dropFirst() {
                    reading.error(
                        "another source has \"control\" too",
                        at: list.location("\(index)", "control")
                    )
                }
            }
        }
    }

    private static var source: Section<ConstrainedSourceDraft> {
        Section(
            "constrained_source",
            "One source.",
            of: ConstrainedSourceDraft(),
            choices: [.exactlyOne("file_exists", "control")]
        ) {
            Field("file_exists", .absolutePath, \.file) {
                "A file that is there while the network is constrained. A change is seen within a second."
            }
            Field("control", .boolean, \.control) {
                "Lets operators decide with \"waystation constrained\"; what they say overrides the files "
                    + "until they leave it to them again, or the relay is restarted."
            }
        } check: { draft, node, reading in
            guard draft.control == false else { return }
            reading.error(
                "\"control\" takes true",
                at: node.location("control"),
                hint: "write true, or remove the source"
            )
        }
    }
}

// The `constrained` of a route.
extension ConfigurationTable {
    private struct LightDraft {
        var path: String?
        var query = RouteQuery()
        var fields: [(name: String, value: String)] = []
    }

    /// The word, or the lighter request, of a route.
    static var constrainedUse: ValueKind<RouteDraft> {
        let words = OptionWords.all
        let light = lightRequest.kind
        let kind = ValueKind<RouteDraft>(.either(.word(words), light.shape)) { node, current, reading in
            guard var draft = current else { return nil }
            if case .object = node.content {
                guard let read = light.read(node, nil, &reading) else { return nil }
                do throws(Refusal) {
                    draft.policy.lightRequest = try LightRequest(
                        path: read.path,
                        query: read.query,
                        fields: read.fields
                    )
                    draft.policy.constrained = .light
                    return draft
                } catch {
                    reading.error(error.message, at: node.range, hint: error.hint)
                    return nil
                }
            }
            guard let use = node.text.flatMap(ConstrainedUse.init(word:)) else {
                reading.refuse(node, expected: .either(.word(words), light.shape))
                return nil
            }
            draft.policy.constrained = use
            return draft
        }
        return kind.writing { $0.policy.constrained.word.map { .string($0) } }
    }

    private enum OptionWords {
        static let all = ConstrainedUse.allCases.compactMap(\.word)
    }

    private static var lightRequest: Section<LightDraft> {
        Section(
            "light_request",
            "The lighter request that takes the place of each while the network is constrained. Method, key, body, "
                + "credential and the upstream's base are those of the request.",
            of: LightDraft()
        ) {
            Field("path", .string(), \.path) {
                "The path below the upstream's base; {path} in it stands for the request's own. Without the key it is that."
            }
            Field("query", .queryParameters, \.query.parameters) {
                "Parameters that take the place of the request's of the same name."
            }
            Field("headers", .fields(.set), \.fields) {
                "Headers that take the place of the request's of the same name; none that carries a key or a credential."
            }
        }
    }
}

extension RouteCheck {
    /// A lighter request is the same one, and something has to tell that the network is constrained.
    func checkConstrained(_ reading: inout ReadContext) {
        guard policy.constrained != .send else { return }
        if reading.root["constrained"] == nil {
            reading.error(
                "nothing tells when the network is constrained",
                at: node.location("constrained"),
                hint: "add \"constrained\": {\"when\": [{\"file_exists\": \"/run/waystation/constrained\"}]} "
                    + "beside \"routes\""
            )
        }
        if policy.constrained > .light, route.upstreams.contains(where: { $0.use == .whenConstrained }) {
            reading.error(
                "nothing would ever be sent to the upstream that is used when_constrained",
                at: node.location("constrained"),
                hint: "remove one of the two"
            )
        }
        guard let light = policy.lightRequest else { return }
        if light.query.parameters.contains(where: { if case .text = $0.value { false } else { true } }) {
            reading.error(
                "a secret belongs to every request, and no lighter one has its own",
                at: node.location("constrained", "query"),
                hint: "move it to \"request\": {\"query\": {\"set\": {…}}}"
            )
        }
        var own = keyNames
        if case .fixed(.header(let name), _) = route.auth { own.append(name.lowercased()) }
        for (name, _) in light.fields where own.contains(name.lowercased()) {
            reading.error(
                "the lighter request keeps the \(name) of its request, which is its key or its credential",
                at: node.location("constrained", "headers", name),
                hint: "remove it"
            )
        }
    }
}
