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

    /// The keys of the files that have another value than before, are new or are gone, in order, and the routes that
    /// they or the keys that these inherit belong to.
    func changes(since old: ConfigurationOutline) -> (keys: [String], routes: Set<String>) {
        guard bytes != old.bytes else { return ([], []) }
        let (former, present) = (old.values(), values())
        let keys = Set(former.keys).union(present.keys).filter { former[$0]?.value != present[$0]?.value }
        let own = keys.filter { former[$0]?.line != nil || present[$0]?.line != nil }
        return (own.sorted(), Set(keys.compactMap(ConfigurationOutline.route)))
    }

    private static func route(of key: String) -> String? {
        guard let tokens = (try? JSONPointer(parsing: key))?.tokens, tokens.count > 1, tokens[0] == "routes"
        else { return nil }
        return tokens[1]
    }

    private func values() -> [String: EffectiveConfiguration.Entry] {
        Dictionary((effective()?.entries ?? []).map { ($0.pointer, $0) }) { _, last in last }
    }
}
