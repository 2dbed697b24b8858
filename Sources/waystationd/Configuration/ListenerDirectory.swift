import Glibc
import RelayConfig
import RelayJSON

/// The directories that Unix sockets are to stand in; the daemon makes none of them.
enum ListenerDirectory {
    /// The directory of the shipped units, which systemd makes with the sockets.
    private static let standard = "/run/waystation"

    /// The fault of the directory of a listener's socket; nil when the directory is there or the listener needs none.
    static func fault(_ listener: Listener) -> String? {
        guard case .unix(let path, _, _) = listener.address, let slash = path.lastIndex(of: "/") else {
            return nil
        }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        var facts = stat()
        guard unsafe stat(directory, &facts) != 0 else {
            return facts.st_mode & S_IFMT == S_IFDIR ? nil : "\(directory) is no directory"
        }
        guard errno == ENOENT else { return nil }
        return "the directory \(directory) does not exist: make it, or let systemd make it"
            + " (RuntimeDirectory= in the unit, or a socket unit)"
    }

    /// The faults a start would meet, unless systemd passes the sockets.
    static func warnings(_ loaded: LoadedConfiguration) -> [Diagnostic] {
        let listeners = loaded.configuration.listeners
        return listeners.indices.compactMap { index in
            if case .unix(let path, _, _) = listeners[index].address, path.hasPrefix(standard + "/") {
                return nil
            }
            guard let fault = fault(listeners[index]) else { return nil }
            let pointer = JSONPointer(tokens: ["listeners", "\(index)", "unix"]).text
            let line = loaded.outline.effective()?.entries.first { $0.pointer == pointer }?.line ?? 1
            return Diagnostic(
                "the listener \(listeners[index].name) cannot be opened: \(fault)",
                severity: .warning,
                file: loaded.file,
                position: JSONPosition(line: line, column: 1),
                pointer: pointer
            )
        }
    }
}
