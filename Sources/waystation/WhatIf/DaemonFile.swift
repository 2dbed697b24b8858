import Glibc
import RelayBase
import RelayJSON
import RelayPosix

/// The configuration of the daemon that runs.
enum DaemonFile {
    /// The file that `--config` names, the usual one, or where that cannot be read or a socket is named the one that the
    /// daemon has read.
    static func read(_ arguments: Arguments) throws(CommandFailure) -> [UInt8] {
        if let file = arguments["config"] { return try FileBytes.read(path: file) }
        let usual: CommandFailure
        do throws(CommandFailure) {
            if !isNamed(arguments) { return try FileBytes.read(path: defaultConfiguration) }
            usual = CommandFailure(.failed, "the daemon's file is not known")
        } catch { usual = error }
        let advice = "Name the file: --config FILE"
        let file: String
        do throws(CommandFailure) { file = try path(arguments, advice: advice) } catch {
            guard error.code == .notReachable, !isNamed(arguments) else { throw error }
            throw CommandFailure(usual.code, usual.message, advice: advice)
        }
        Output.error.write("note: the daemon's \(safe(file)) is looked at\n")
        return try FileBytes.read(path: file)
    }

    private static func isNamed(_ arguments: Arguments) -> Bool {
        arguments.has("socket") || environment("WAYSTATION_CONTROL_SOCKET") != nil
    }

    /// Another user's daemon could have its caller, root for example, read any file and send secrets anywhere.
    private static func path(_ arguments: Arguments, advice: String) throws(CommandFailure) -> String {
        func refused(_ reason: String) -> CommandFailure {
            CommandFailure(.notAllowed, reason, advice: advice)
        }
        let socket = DaemonSockets(arguments).control
        if let peer = SocketOwner.peer(of: socket), !SocketOwner.isTrusted(peer) {
            throw refused("the daemon at \(safe(socket)) is user \(SocketOwner.userName(peer))'s")
        }
        let (_, status) = try DaemonAccess.control(arguments).document(.get, "/v1/status")
        guard let file = status["config"]?["file"]?.text else {
            throw CommandFailure(.failed, "the daemon does not say which file it has read")
        }
        guard file.hasPrefix("/") else {
            throw refused("the daemon has read \(safe(file)), from a directory that it does not tell")
        }
        guard SocketOwner.isTrusted(file: file) else {
            throw refused(
                "\(safe(file)), which the daemon has read, may be written by others than you and root"
            )
        }
        return file
    }
}
