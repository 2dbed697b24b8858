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
            [
                (0, .copy(input.descriptor)), (1, .copy(output.descriptor)),
                (trialDescriptor, .copy(more.descriptor)),
            ],
            ", whose machine this asks"
        )
        let status: Int32
        do throws(PosixError) {
            status = try process.wait(pause: 100) {
                progress?.update("rehearsing: \(output.size >> 10) KiB of answers")
                return true
            }
        } catch { throw CommandFailure(.failed, "lost \(path): \(error.errno)") }
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

    /// Starts it, with no variables but those of a daemon by itself: no service manager, no activated sockets.
    ///
    /// With the purpose ends the sentence that says it cannot be started.
    static func start(
        _ words: [String],
        variables: [String] = [],
        _ descriptors: [(Int32, ChildProcess.Descriptor)],
        _ purpose: String = ""
    ) throws(CommandFailure) -> ChildProcess {
        let program = path
        do throws(PosixError) {
            return try ChildProcess(
                program,
                [program] + words,
                variables: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + variables,
                descriptors: descriptors
            )
        } catch { throw cannotStart(program, purpose, error.errno) }
    }

    static func cannotStart(_ program: String, _ purpose: String, _ reason: Errno) -> CommandFailure {
        CommandFailure(
            .failed,
            "cannot start \(program)\(purpose): \(reason)",
            advice: "Build or install the daemon beside this program."
        )
    }
}
