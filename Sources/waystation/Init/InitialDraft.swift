import RelayConfig
import RelayRoute

/// The part of a first configuration that is known before it is complete.
struct InitialDraft {
    var url: String?
    var route: String?
    var kind: InitialCredential.Kind?
    /// By the options that give them.
    var values: [String: String] = [:]
    var location: InitialCredential.Location?
    var allowed: [String] = []
    var isDurable = false
    var generatesKeys = false

    /// Reads the options, and refuses those that say nothing to the kind of credential.
    init(_ arguments: Arguments) throws(CommandFailure) {
        try arguments.limitOperands(to: 1)
        url = arguments.operands.first
        route = arguments["route"]
        if let word = arguments["auth"] {
            guard let kind = InitialCredential.Kind(rawValue: word) else {
                let words = InitialCredential.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw .usage("--auth takes \(words), not \"\(safe(word))\"", of: "init")
            }
            self.kind = kind
        }
        let known = Set((kind?.parts ?? []).map(\.option))
        for option in Set(InitialCredential.Kind.allCases.flatMap(\.parts).map(\.option)).sorted() {
            guard let value = arguments[option] else { continue }
            guard known.contains(option) else {
                throw .usage("--\(option) says nothing to --auth \(kind?.rawValue ?? "none")", of: "init")
            }
            values[option] = value
        }
        if let text = arguments["secret"] {
            guard kind?.secret != nil else {
                throw .usage("--secret says nothing to --auth \(kind?.rawValue ?? "none")", of: "init")
            }
            location = InitialCredential.Location(text)
        }
        allowed = arguments.all("allow-addresses")
        isDurable = arguments.has("durable")
        generatesKeys = arguments.has("generate-keys")
    }

    /// With what is usual in the place of what nobody has said.
    var configuration: InitialConfiguration {
        let url = url ?? ""
        let route = route ?? InitialConfiguration.usualRoute(url)
        var credential = InitialCredential()
        credential.kind = kind ?? .none
        for part in credential.kind.parts {
            credential.values[part.key] = values[part.option] ?? part.defaultValue
        }
        credential.location =
            location ?? .credential(InitialCredential.defaultName(credential.kind, route: route))
        return InitialConfiguration(
            url: url,
            route: route,
            credential: credential,
            allowed: allowed,
            isDurable: isDurable,
            generatesKeys: generatesKeys
        )
    }

    /// The configuration, from options alone.
    func complete(file: String) throws(CommandFailure) -> InitialConfiguration {
        guard url != nil else {
            throw .usage("which upstream? waystation init URL; on a terminal it asks", of: "init")
        }
        for part in kind?.parts ?? [] where part.defaultValue == nil && values[part.option] == nil {
            throw .usage("--auth \(kind?.rawValue ?? "") needs --\(part.option)", of: "init")
        }
        let configuration = configuration
        guard let (answer, message, hint) = InitialCheck(configuration, file: file).refusal else {
            return configuration
        }
        let what =
            switch answer {
            case .url: "the URL"
            case .route: "--route"
            case .part(let key): "--" + (kind?.parts.first { $0.key == key }?.option ?? key)
            case .secret: "--secret"
            case .allowed: "--allow-addresses"
            }
        let special = (try? UpstreamURL(parsing: configuration.url)).flatMap(SpecialAddresses.ranges(to:))
        if answer == .url, let special {
            let options = special.ranges.map { " --allow-addresses \($0)" }.joined()
            throw CommandFailure(
                .usage,
                "\(what) is refused: \(message)",
                advice: "If it is meant:\(options)"
            )
        }
        throw .usage(safe("\(what) is refused: \(message)" + (hint.map { " (\($0))" } ?? "")), of: "init")
    }
}
