import Glibc
import RelayPosix

/// Runs a tool's command as this program of its own, so that it says what it says to a person.
struct ToolRun {
    /// The daemon's, where it is not the usual one.
    let socket: String?
    /// Of what-if.
    let configuration: String?

    /// Bytes that are read of what a command says, and seconds until it has said it.
    private static let longest = 8 * 1_048_576
    private static let timeLimit = 60

    func callAsFunction(_ call: Tool.Call) -> AgentSession.Told {
        do throws(CommandFailure) { return try run(call) } catch {
            return AgentSession.Told(text: error.message, isError: true)
        }
    }

    private func run(_ call: Tool.Call) throws(CommandFailure) -> AgentSession.Told {
        var words = ["waystation", call.words[0]]
        if call.words[0] == "what-if", let configuration { words.append("--config=\(configuration)") }
        words += call.words.dropFirst()
        let output = try TemporaryFile()
        let errors = try TemporaryFile()
        let upstreams = try TemporaryFile()
        let lifeline = try Lifeline()
        // None of the command's numbers is one of this process that is still to be handed on.
        let spare = fcntl(upstreams.descriptor, F_DUPFD_CLOEXEC, Lifeline.descriptor + 1)
        defer { close(spare) }
        let process = try start(
            words,
            [
                (STDIN_FILENO, .nothing), (STDOUT_FILENO, .copy(output.descriptor)),
                (STDERR_FILENO, .copy(errors.descriptor)), (Lifeline.descriptor, .copy(lifeline.itsEnd)),
                (UpstreamTexts.descriptor, .copy(spare)),
            ]
        )
        lifeline.tie(process.id)
        let status = try wait(for: process)
        _ = consume lifeline
        let said = String(decoding: errors.content(limit: Self.longest).bytes, as: UTF8.self)
        let untrusted = UntrustedMember(lines: upstreams.content(limit: Self.longest).bytes)
        guard status == 0 else {
            let text = AnswerLimit.beginning(said.isEmpty ? "status \(status)" : said).0
            return AgentSession.Told(text: text, untrusted: untrusted.object, isError: true)
        }
        return AgentSession.Told(text: text(of: call, output, said), untrusted: untrusted.object)
    }

    /// All that a command has said, as far as there is room for it.
    private func text(of call: Tool.Call, _ output: borrowing TemporaryFile, _ said: String) -> String {
        guard let lines = call.lines else {
            let (bytes, isCut) = output.content(limit: Self.longest)
            let (text, isWhole) = AnswerLimit.beginning(String(decoding: bytes, as: UTF8.self) + said)
            return isWhole && !isCut ? text : text + "\n[the rest is left out: ask for less]\n"
        }
        // The newest stand last.
        let bytes = output.content(limit: .max).bytes.lastLines(lines)
        guard !bytes.isEmpty else { return "no events\n" + said }
        let (text, isWhole) = AnswerLimit.lastLines(String(decoding: bytes, as: UTF8.self) + said)
        return isWhole ? text : "[older ones are left out: ask for less]\n" + text
    }

    private func start(
        _ words: [String],
        _ descriptors: [(Int32, ChildProcess.Descriptor)]
    ) throws(CommandFailure) -> ChildProcess {
        let sockets = ["WAYSTATION_CONTROL_SOCKET", "WAYSTATION_SOCKET"]
        let variables =
            ["COLUMNS=160", "NO_COLOR=1", "\(UpstreamTexts.variable)=1"]
            + ["PATH", "TZ"].compactMap { name in environment(name).map { "\(name)=\($0)" } }
            + sockets.compactMap { name in (socket ?? environment(name)).map { "\(name)=\($0)" } }
        do throws(PosixError) {
            return try ChildProcess(
                "/proc/self/exe",
                words,
                variables: variables,
                descriptors: descriptors
            )
        } catch { throw CommandFailure(.failed, "cannot run the command: \(error.errno)") }
    }

    private func wait(for process: ChildProcess) throws(CommandFailure) -> Int32 {
        let end = SystemClock.monotonic() + Int64(Self.timeLimit) * 1_000_000_000
        var isLate = false
        let status: Int32
        do throws(PosixError) {
            status = try process.wait(pause: 20) {
                isLate = SystemClock.monotonic() > end
                return !isLate
            }
        } catch { throw CommandFailure(.failed, "lost the command: \(error.errno)") }
        guard !isLate else {
            throw CommandFailure(.timedOut, "no answer within \(Self.timeLimit) seconds")
        }
        return status
    }
}

extension [UInt8] {
    /// The last so many of its lines.
    fileprivate func lastLines(_ count: Int) -> [UInt8] {
        var left = count
        for index in indices.reversed() where self[index] == UInt8(ascii: "\n") && index != endIndex - 1 {
            left -= 1
            if left == 0 { return Array(self[(index + 1)...]) }
        }
        return self
    }
}
