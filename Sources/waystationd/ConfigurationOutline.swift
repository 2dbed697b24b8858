import RelayConfig
import RelayCore
import RelayJSON

/// What of a configuration is compared when another takes its place.
struct ConfigurationOutline: Sendable, Equatable {
    /// By the name of a route, every value it has, those it inherits included; one line each.
    private(set) var routes: [String: String] = [:]
    private let listeners: String
    private let storage: StorageSettings
    private let logFormat: LogSettings.Format

    init(_ configuration: Configuration, _ effective: EffectiveConfiguration?) {
        listeners = configuration.listeners.map { "\($0)" }.joined(separator: "\n")
        storage = configuration.storage
        logFormat = configuration.log.format
        for entry in effective?.entries ?? [] {
            guard let tokens = (try? JSONPointer(parsing: entry.pointer))?.tokens, tokens.count > 1,
                tokens[0] == "routes"
            else { continue }
            routes[tokens[1], default: ""] += "\(entry.pointer) = \(entry.value)\n"
        }
    }

    /// The names of the routes that were there before and say something else now, in order.
    func modifiedRoutes(since old: ConfigurationOutline) -> [String] {
        routes.filter { name, text in old.routes[name].map { $0 != text } ?? false }.keys.sorted()
    }

    /// What differs from the configuration the process started with and is not changed while it runs.
    func waitsForRestart(since start: ConfigurationOutline) -> [String] {
        var names: [String] = []
        if listeners != start.listeners { names.append("listeners") }
        if storage.directory != start.storage.directory { names.append("storage.directory") }
        if storage.sync != start.storage.sync { names.append("storage.sync") }
        if logFormat != start.logFormat { names.append("log.format") }
        return names
    }
}
