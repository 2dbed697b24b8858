import Glibc

/// The steps that are left to do when a first configuration is written.
struct InitialSteps {
    /// Where it was written; nil when it went to standard output.
    let file: String?
    let configuration: InitialConfiguration
    /// The word before a command that takes root.
    var root = geteuid() == 0 ? "" : "sudo "

    static let usualFile = "/etc/waystation/waystation.json"

    var text: String {
        var text = secret
        if file == InitialSteps.usualFile {
            // A credential is given when a daemon starts.
            let word = if case .credential? = location { "restart" } else { "reload" }
            text += """
                Start it; one that runs already reads the file by the second command:
                  \(root)systemctl enable --now waystationd.socket waystationd-control.socket waystationd
                  \(root)systemctl \(word) waystationd

                """
        } else {
            text += "Start it:\n  waystationd --config \(file.map(shellWord) ?? "FILE")\n"
        }
        let route = configuration.route
        text += """
            Send, as root or a member of the group waystation:
              curl --unix-socket /run/waystation/jobs.sock http://relay/r/\(route)/
              waystation send \(route)

            """
        return text
    }

    /// Nil where there is no secret.
    private var location: InitialCredential.Location? {
        configuration.credential.kind == .none ? nil : configuration.credential.location
    }

    private var secret: String {
        guard let word = configuration.credential.kind.secret?.word else { return "" }
        switch location {
        case .credential(let name):
            let file = "/etc/waystation/secrets/\(name)"
            return """
                Put the \(word) where systemd finds it, for nobody else to read; it is read until Ctrl-D:
                  \(root)install -D -m 600 /dev/stdin \(file)
                Have systemd give it to the daemon, with these lines in: \(root)systemctl edit waystationd
                  [Service]
                  LoadCredential=\(name):\(file)

                """
        case .file(let path):
            return """
                Put the \(word) into \(safe(path)), of mode 0600 and of the daemon's user. The unit's user is
                made anew at each start: under it, a systemd credential serves.

                """
        case nil: return ""
        }
    }
}
