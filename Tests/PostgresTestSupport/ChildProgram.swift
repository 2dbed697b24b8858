import Glibc
import RelayPosix

/// A program that could not do what a test needs, in a sentence.
package struct ProgramError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Programs that tests start: with an environment of their own, and never as root where they refuse it.
enum ChildProgram {
    /// The words that make a command of another one, run by a user without rights where we are root.
    static var unprivileged: [String] {
        geteuid() == 0 ? ["setpriv", "--reuid", "nobody", "--clear-groups"] : []
    }

    private static let variables = [
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent", "TZ=UTC",
    ]

    /// Runs it to its end, and gives what it wrote.
    @discardableResult
    static func run(_ words: [String], in folder: String, input: String = "") throws -> String {
        var (source, output): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard makePair(&source), makePair(&output)
        else {
            throw ProgramError("no sockets for \(words[0])")
        }
        let process: pid_t
        do {
            defer {
                close(source[0])
                close(output[1])
            }
            process = try start(["env", "-C", folder] + words, input: source[0], output: output[1])
        } catch {
            close(source[1])
            close(output[0])
            throw error
        }
        // The words of tests fit into a socket.
        _ = writeAll(Array(input.utf8), to: source[1])
        close(source[1])
        let text = read(output[0])
        close(output[0])
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw ProgramError("\(words.joined(separator: " ")): \(text)") }
        return text
    }

    /// Starts it in a session of its own, which no signal for the tests reaches.
    static func start(_ words: [String], input: Int32, output: Int32) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | newSession))
        let arguments = CStrings(closing + words)
        let environment = CStrings(variables)
        var process = pid_t()
        let result = unsafe posix_spawnp(
            &process,
            closing[0],
            &actions,
            &attributes,
            arguments.pointers,
            environment.pointers
        )
        guard result == 0 else { throw ProgramError("cannot start \(words[0]): \(Errno(rawValue: result))") }
        return process
    }

    /// Closes what tests that run beside have open at this moment and would wait for the end of.
    private static let closing = [
        "bash", "-c",
        "for f in /proc/self/fd/*; do n=${f##*/}; [ $n -le 2 ] || eval \"exec $n>&-\"; done; exec \"$@\"",
        "bash",
    ]

    /// POSIX_SPAWN_SETSID, which glibc declares for _GNU_SOURCE alone.
    private static let newSession: Int32 = 0x80

    /// Two sockets that no program inherits unless it is given one.
    static func makePair(_ ends: inout [Int32]) -> Bool {
        unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    }

    private static func read(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 { bytes += buffer[..<count] }
            if count == 0 || count < 0 && errno != EINTR { return String(decoding: bytes, as: UTF8.self) }
        }
    }
}

/// Ends what it is told of when this process is over, however it ends: a shell that waits for the end of a socket whose other
/// end no other process has.
final class Caretaker: Sendable {
    private let socket: FileDescriptor

    /// Runs a script with those arguments when this object, or the process, is gone.
    init(_ script: String, _ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        guard ChildProgram.makePair(&ends) else { throw ProgramError("no sockets") }
        socket = FileDescriptor(ends[1])
        let null = FileDescriptor(unsafe open("/dev/null", O_WRONLY | O_CLOEXEC))
        defer { close(ends[0]) }
        // No child of ours, since the one that watches exit tests stumbles over a child that nobody has waited for.
        let starter = try ChildProgram.start(
            [
                "sh", "-c", "exec 3<&0; sh -c \"$0\" \"$@\" <&3 3<&- &", "cat >/dev/null; " + script,
                "caretaker",
            ]
                + arguments,
            input: ends[0],
            output: null.raw
        )
        while waitpid(starter, nil, 0) < 0, errno == EINTR {}
    }
}
