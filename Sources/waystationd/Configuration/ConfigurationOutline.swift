import RelayConfig
import RelayJSON

/// The text of a configuration, from which a reload tells what each route says; nobody asks before.
struct ConfigurationOutline: Sendable {
    let file: String
    let bytes: [UInt8]
    /// When it was read, in seconds since 1970.
    let wallSeconds: Int64

    /// Every value with its origin.
    func effective() -> EffectiveConfiguration? {
        // It was accepted: whether its accounts are still there is no question of what it says.
        let accounts = AccountResolver(user: { _ in 0 }, group: { _ in 0 })
        return ConfigurationReader.read(
            bytes,
            file: file,
            accounts: accounts,
            wallSeconds: wallSeconds,
            notesValues: true
        ).effective
    }

    /// The names of the routes that were there before and say something else now, in order.
    func modifiedRoutes(since old: ConfigurationOutline) -> [String] {
        guard bytes != old.bytes else { return [] }
        let former = old.routes()
        return routes().filter { name, text in former[name].map { $0 != text } ?? false }.keys.sorted()
    }

    /// By the name of a route, every value it has, those it inherits included; one line each.
    private func routes() -> [String: String] {
        var routes: [String: String] = [:]
        for entry in effective()?.entries ?? [] {
            guard let tokens = (try? JSONPointer(parsing: entry.pointer))?.tokens, tokens.count > 1,
                tokens[0] == "routes"
            else { continue }
            routes[tokens[1], default: ""] += "\(entry.pointer) = \(entry.value)\n"
        }
        return routes
    }
}
