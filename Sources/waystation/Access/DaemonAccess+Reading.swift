import Glibc
import RelayBase
import RelayClient
import RelayPosix

/// Where a command finds the daemon.
struct DaemonSockets {
    let control: String
    let jobs: String
    static let usualControl = "/run/waystation/control.sock"
    /// Whether the command line names the one there is to ask.
    private let isNamed: Bool

    init(_ arguments: Arguments) {
        let named = arguments["socket"]
        isNamed = named != nil
        control = named ?? environment("WAYSTATION_CONTROL_SOCKET") ?? DaemonSockets.usualControl
        jobs = named ?? environment("WAYSTATION_SOCKET") ?? "/run/waystation/jobs.sock"
    }

    /// The one to ask for what both of them tell, the jobs socket of one's own jobs only.
    ///
    /// The control socket unless it is closed to the caller, or is not there, while the other can be asked. Where both
    /// are closed it is the jobs socket, whose group is easier to join than root.
    func reading(_ reach: (String) -> Reach = Reach.init(path:)) -> (path: String, isOwnJobs: Bool) {
        guard control != jobs else { return (control, false) }
        switch (reach(control), reach(jobs)) {
        case (.closed, .open), (.closed, .closed), (.missing, .open): return (jobs, true)
        default: return (control, false)
        }
    }

    /// The option that a command that is advised needs to find the same daemon: nothing, or ` --socket PATH`.
    var option: String { isNamed ? DaemonSockets.option(control) : "" }

    /// The same after a command that only looks for the jobs socket.
    var optionOfJobs: String {
        let isElsewhere =
            environment("WAYSTATION_SOCKET") != nil && environment("WAYSTATION_CONTROL_SOCKET") == nil
        return isNamed || isElsewhere ? DaemonSockets.option(jobs) : ""
    }

    private static func option(_ path: String) -> String { " --socket " + shellWord(path) }

    /// The caller's access to a socket, before the daemon is asked.
    enum Reach {
        case open
        case closed
        case missing

        init(path: String) {
            guard unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 else {
                self = .open
                return
            }
            self = errno == EACCES || errno == EPERM ? .closed : .missing
        }
    }
}

/// Commands that may help, as this caller has to type them for this daemon.
struct Advice {
    /// Whether the caller sees no more than the jobs socket tells.
    var isOwnJobs = false
    /// The option behind each: nothing, or ` --socket PATH`.
    var option = ""

    /// The command line of a command such as `jobs retry JOB`; `isOwn` of what the jobs socket takes of the caller's own
    /// jobs.
    func callAsFunction(_ command: String, isOwn: Bool = false) -> String {
        (isOwnJobs && !isOwn ? "sudo " : "") + "waystation \(command)\(option)"
    }

    /// The command that shows the journal's records of a job; no socket is asked.
    func journal(_ id: String) -> String { (isOwnJobs ? "sudo " : "") + "waystation logs \(id)" }

    /// A clause that ends with a command about JOB or ROUTE, with the job's id and its route.
    func filled(_ clause: String, job id: String, route: String) -> String {
        let parts = clause.parts(between: "waystation ")
        guard parts.count == 2 else { return clause }
        let own = ["cat ", "jobs cancel ", "jobs watch ", "jobs --route "]
        let command = parts[1].parts(between: "JOB").joined(separator: id).parts(between: "ROUTE")
            .joined(separator: route)
        return parts[0] + self(command, isOwn: own.contains { command.hasPrefix($0) })
    }
}

extension DaemonAccess {
    /// The daemon for what its jobs socket tells as well: the control socket when the caller may use it.
    static func reading(_ arguments: Arguments, timeout: Duration = .seconds(30)) -> DaemonAccess {
        let sockets = DaemonSockets(arguments)
        let (path, isOwnJobs) = sockets.reading()
        var client = RelayClient(socketPath: path)
        client.timeout = timeout
        return DaemonAccess(client, Advice(isOwnJobs: isOwnJobs, option: sockets.option))
    }

    /// Says on standard error that a list leaves out the jobs of others.
    func noteOwnJobs() {
        guard advice.isOwnJobs else { return }
        Output.error.write("These are your own jobs; the control socket tells of all.\n")
    }
}
