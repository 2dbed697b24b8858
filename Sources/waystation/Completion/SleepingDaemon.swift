import Glibc

/// Tells whether a connection would wake a daemon.
///
/// Where systemd listens in place of a daemon that does not run, any connection starts it, also one of which nothing is
/// asked. A socket's listener cannot be seen before a connection is made; but a socket that systemd made is root's,
/// and for every unit that runs systemd keeps a link in /run/systemd/units, from which the journal takes the unit's
/// invocation.
struct SleepingDaemon {
    /// There where systemd runs the machine; sd_booted(3).
    var system = "/run/systemd/system"
    var running = "/run/systemd/units/invocation:waystationd.service"

    func mayBeAsked(at path: String) -> Bool {
        var socket = stat()
        guard unsafe stat(path, &socket) == 0 else { return false }
        guard socket.st_uid == 0, unsafe access(system, F_OK) == 0 else { return true }
        var link = stat()
        return unsafe lstat(running, &link) == 0
    }
}
