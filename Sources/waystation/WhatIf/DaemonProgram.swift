import Glibc
import RelayJSON
import RelayPosix

/// The program of the daemon, which has the machine that decides: the one beside this program before the one in PATH.
enum DaemonProgram {
    static var path: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return "waystationd" }
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let directory = path.split(separator: "/").dropLast().joined(separator: "/")
        // An installed daemon is in the sbin beside the tool's bin.
        for candidate in ["/\(directory)/waystationd", "/\(directory)/../sbin/waystationd"]
        where unsafe access(candidate, X_OK) == 0 {
            return candidate
        }
        return "waystationd"
    }

    /// Asks it what would happen, with the content of a configuration; no daemon has to run.
    ///
    /// - Returns: its answer, as JSON.
    static func imagine(_ order: [UInt8], _ configuration: [UInt8]) throws(CommandFailure) -> [UInt8] {
        try ask(order, configuration, [])
    }

    /// Has it rehearse trials, a line each, with the rules of a configuration.
    ///
    /// - Returns: its answers, a line each.
    static func rehearse(_ trials: [UInt8], _ configuration: [UInt8]) throws(CommandFailure) -> [UInt8] {
        var order = JSONObjectWriter()
        order.member("trials", "/dev/fd/\(trialDescriptor)")
        return try ask(order.bytes, configuration, trials, Progress("rehearsing"))
    }

    /// Where the daemon's program finds the trials.
    private static let trialDescriptor: Int32 = 3

    private static func ask(
        _ order: [UInt8],
        _ configuration: [UInt8],
        _ trials: [UInt8],
        _ progress: Progress? = nil
    ) throws(CommandFailure) -> [UInt8] {
        let input = try TemporaryFile()
        let output = try TemporaryFile()
        let more = try TemporaryFile()
        guard writeAll(configuration, to: input.descriptor), writeAll(trials, to: more.descriptor) else {
            throw CommandFailure(.failed, "cannot hand the configuration over: \(errorText())")
        }
        let words = ["--what-if", String(decoding: order, as: UTF8.self), "--config", "/dev/stdin"]
        defer { progress?.end() }
        let process = try start(
            words,
            [(input.descriptor, 0), (output.descriptor, 1), (more.descriptor, trialDescriptor)]
        )
        let status = try wait(for: process) {
            progress?.update("rehearsing: \(output.size >> 10) KiB of answers")
        }
        let answer = output.content(limit: .max).bytes
        guard status != 0 else { return answer }
        guard case .string(let fault)? = (try? JSONValue(parsing: answer))?["error"] else {
            throw CommandFailure(
                .failed,
                "\(path) ended with status \(status) and did not say why",
                advice: "It has to be of the same version as this program: waystationd --version"
            )
        }
        throw CommandFailure(.usage, fault)
    }

    private static func start(
        _ words: [String],
        _ descriptors: [(Int32, Int32)]
    ) throws(CommandFailure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (own, its) in descriptors { unsafe posix_spawn_file_actions_adddup2(&actions, own, its) }
        let program = path
        let arguments = CStrings([program] + words)
        let variables = CStrings(["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
        var process: pid_t = 0
        let result = unsafe posix_spawnp(
            &process,
            program,
            &actions,
            nil,
            arguments.pointers,
            variables.pointers
        )
        guard result == 0 else {
            throw CommandFailure(
                .failed,
                "cannot start \(program), whose machine this asks: \(unsafe String(cString: strerror(result)))",
                advice: "Build or install the daemon beside this program."
            )
        }
        return process
    }

    /// - Returns: its exit status; that of a shell where a signal ended it.
    private static func wait(for process: pid_t, _ watch: () -> Void) throws(CommandFailure) -> Int32 {
        var (status, pause): (Int32, Int32) = (0, 1)
        while true {
            let found = unsafe waitpid(process, &status, WNOHANG)
            if found == process { break }
            guard found == 0 || errno == EINTR else {
                throw CommandFailure(.failed, "lost \(path): \(errorText())")
            }
            watch()
            _ = poll(nil, 0, pause)
            pause = min(100, pause * 2)
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
