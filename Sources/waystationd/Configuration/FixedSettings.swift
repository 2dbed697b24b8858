import RelayConfig

/// The settings of a configuration that are not changed while the process runs.
struct FixedSettings: Sendable {
    private let listeners: [Listener]
    private let storage: StorageSettings
    private let logFormat: LogSettings.Format

    init(_ configuration: Configuration) {
        listeners = configuration.listeners
        storage = configuration.storage
        logFormat = configuration.log.format
    }

    /// The settings that differ from the configuration the process started with.
    func waitsForRestart(since start: FixedSettings) -> [String] {
        var names: [String] = []
        if listeners != start.listeners { names.append("listeners") }
        if storage.directory != start.storage.directory { names.append("storage.directory") }
        if storage.postgresql != start.storage.postgresql { names.append("storage.postgresql") }
        if storage.sharesUsers != start.storage.sharesUsers { names.append("storage.shared_users") }
        if storage.sync != start.storage.sync { names.append("storage.sync") }
        if logFormat != start.logFormat { names.append("log.format") }
        return names
    }
}
