import RelayConfig
import RelayJSON
import RelayPosix

/// The text of a configuration, from which a reload tells what each route says; nobody asks before.
struct ConfigurationOutline: Sendable {
    let file: String
    let bytes: [UInt8]
    /// When it was read, in seconds since 1970.
    let wallSeconds: Int64

    /// Every value with its origin.
    func effective() -> EffectiveConfiguration? {
        // It was accepted: whether its accounts are still there is no question of what it says.
        let accounts = AccountResolver(user: { _ in 0 }, group: { _ in 0 }, zoneFile: ZoneFiles.read)
        return ConfigurationReader.read(
            bytes,
            file: file,
            accounts: accounts,
            wallSeconds: wallSeconds,
            notesValues: true
        ).effective
    }

    /// The keys of the files that have another value than before, are new or are gone, in order, and the routes that
    /// they or the keys that inherit them belong to.
    func changes(since old: ConfigurationOutline) -> (keys: [String], routes: Set<String>) {
        guard bytes != old.bytes else { return ([], []) }
        let (before, after) = (old.effective()?.entries ?? [], effective()?.entries ?? [])
        var (former, own, present) = ([String: String](), Set<String>(), Set<String>())
        for entry in before {
            former[entry.pointer] = entry.value
            if entry.line != nil { own.insert(entry.pointer) }
        }
        var (keys, routes) = ([String](), Set<String>())
        func differs(_ entry: EffectiveConfiguration.Entry) {
            if entry.line != nil || own.contains(entry.pointer) { keys.append(entry.pointer) }
            guard let tokens = (try? JSONPointer(parsing: entry.pointer))?.tokens, tokens.count > 1,
                tokens[0] == "routes"
            else { return }
            routes.insert(tokens[1])
        }
        for entry in after {
            present.insert(entry.pointer)
            if former[entry.pointer] != entry.value { differs(entry) }
        }
        for entry in before where !present.contains(entry.pointer) { differs(entry) }
        return (keys.sorted(), routes)
    }
}
