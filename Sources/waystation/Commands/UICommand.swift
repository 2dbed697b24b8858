import Glibc
import RelayBase
import RelayClient
import RelayJSON
import RelayPosix
import RelayRoute
import WaystationUI

extension Command {
    static let ui = Command(
        "ui",
        "[--port PORT] [--for USER] [--numeric] [--no-open] [--socket PATH]",
        "Shows the daemon in a browser.",
        details: """
            It listens on a port of the loopback and prints a link, which opens the page once within a minute; where
            there is a display it opens it in the browser, but never as root. What the page does goes to the control
            socket as you, so it may do what you may; a listener with the role read or operate, named by --socket,
            allows less. Enter gives another link and lets those stay who are in, eight browsers at most; one of
            which nothing is heard for 12 hours is out. Ctrl-C ends it for all.

            The link has a name below localhost, new with each run, which browsers look up in themselves, so that
            what another program has left in the browser at that port is of another site. For one that does not
            know the name, --numeric takes 127.0.0.1: there a program that had the same port before may still act
            in the page, and every other port of this machine that the browser visits is sent the session.

            From afar, with the same port at both ends:

              ssh -t -o ExitOnForwardFailure=yes -L 127.0.0.1:8311:127.0.0.1:8311 HOST sudo waystation ui --port 8311

            """,
        options: [
            OptionSpec("port", value: "PORT", "the loopback's port; any that is free"),
            OptionSpec(
                "for",
                value: "USER",
                "whose browser it is, by name or number; who typed sudo, run0, doas or pkexec"
            ),
            OptionSpec(
                "numeric",
                nil,
                "link to 127.0.0.1, for a browser that knows no names below localhost"
            ),
            OptionSpec("no-open", nil, "only print the link"), .control,
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        var port: UInt16 = 0
        if let text = arguments["port"] {
            guard let number = UInt16(text) else {
                throw .usage("--port takes a number from 0 to 65535", of: "ui")
            }
            port = number
        }
        let neighbours = PageNeighbours(for: try whom(arguments["for"]))
        let sockets = DaemonSockets(arguments)
        try checkRole(DaemonAccess.control(arguments), sockets.control)
        // Here and in every thread; the end is waited for below.
        let ends = [SIGINT, SIGTERM, SIGHUP]
        SignalWatcher.block(ends)
        var client = RelayClient(socketPath: sockets.control)
        client.timeout = .seconds(300)
        let opened = LinkFile()
        defer { opened.remove() }
        let isNumeric = arguments.has("numeric")
        let service: PageService
        do throws(PosixError) {
            service = try PageService(
                client,
                port: port,
                name: isNumeric ? nil : PageGate.name(),
                socketToName: sockets.control == DaemonSockets.usualControl ? nil : absolute(sockets.control),
                neighbours: neighbours,
                explain: { CommandFailure($0, socketPath: sockets.control).reason },
                // So that it is seen where another one was faster with the link.
                onWelcome: {
                    opened.remove()
                    Output.error.write("A browser came in by the link.\n")
                }
            )
        } catch {
            throw CommandFailure(
                .failed,
                "cannot listen on 127.0.0.1:\(port)\(isNumeric ? "" : " and [::1]:\(port)"): \(error)",
                advice: "Name another port, or leave --port away, which takes any that is free."
            )
        }
        do throws(PosixError) {
            try startDetachedThread("ui") { service.run() }
            try startDetachedThread("links") { printLinks(service) }
        } catch {
            throw CommandFailure(.failed, "cannot start a thread: \(error)")
        }
        let link = service.link()
        Output.standard.write(link + "\n")
        let hint = isatty(STDIN_FILENO) == 1 ? ", Enter for another" : ""
        Output.error.write("The link opens the page once, within a minute\(hint); Ctrl-C ends it.\n")
        if !arguments.has("no-open"), hasBrowser {
            do throws(PosixError) {
                try opened.open(link)
            } catch {
                Output.error.write("The browser is not opened: \(error); open the link in it.\n")
            }
        }
        waitFor(ends)
        Output.error.write("\n")
        return .done
    }
}

private func whom(_ user: String?) throws(CommandFailure) -> UInt32? {
    guard let user else { return nil }
    if let number = UInt32(user) { return number }
    guard let number = Accounts.user(user) else {
        throw .usage("--for names no user of this machine: \(safe(user))", of: "ui")
    }
    return number
}

/// Refuses a socket that would show nothing.
private func checkRole(_ daemon: DaemonAccess, _ path: String) throws(CommandFailure) {
    let (_, version) = try daemon.document(.get, "/v1/version")
    guard let role = version["role"]?.text else {
        throw CommandFailure(
            .failed,
            "the daemon at \(path) is of version \(safe(version["version"]?.text ?? "?")), which has no page",
            advice: "Restart it after the update: systemctl restart waystationd"
        )
    }
    guard Role(rawValue: role).map({ $0.includes(.read) }) ?? false else {
        throw CommandFailure(
            .notAllowed,
            "\(path) gives its callers the role \(safe(role)), and the page takes the role read",
            advice:
                "Use the control socket, or one of a listener with the role read: waystation ui --socket PATH"
        )
    }
}

/// As it can be named from any directory.
private func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    guard let directory = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(directory) }
    return unsafe String(cString: directory) + "/" + path
}

/// A link for each line that is typed.
private func printLinks(_ service: PageService) {
    guard isatty(STDIN_FILENO) == 1 else { return }
    while readLine() != nil { Output.standard.write(service.link() + "\n") }
}

private func waitFor(_ signals: [Int32]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    var received: Int32 = 0
    while unsafe sigwait(&set, &received) != 0 {}
}
