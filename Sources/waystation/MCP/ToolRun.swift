import RelayPosix

/// Runs a tool's command as this program of its own, so that it says what it says to a person.
struct ToolRun {
    /// The daemon's, where it is not the usual one.
    let socket: String?
    /// Of what-if.
    let configuration: String?

    /// Bytes of an answer, and seconds until then.
    private static let longest = 200_000
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
        let lifeline = try Lifeline()
        let process = try start(words, output.descriptor, errors.descriptor, lifeline.itsEnd)
        lifeline.tie(process.id)
        let status = try wait(for: process)
        _ = consume lifeline
        let said = errors.content(limit: Self.longest).bytes
        guard status == 0 else {
            let text = String(decoding: said, as: UTF8.self)
            return AgentSession.Told(text: text.isEmpty ? "status \(status)" : text, isError: true)
        }
        var (bytes, isCut) = output.content(limit: .max)
        if let lines = call.lines {
            if bytes.isEmpty { bytes = Array("no events\n".utf8) }
            bytes = bytes.lastLines(lines)
        }
        if bytes.count > Self.longest { (bytes, isCut) = (Array(bytes.prefix(Self.longest)), true) }
        var text = String(decoding: bytes, as: UTF8.self)
        if isCut { text += "\n[the rest is left out: ask for less]\n" }
        return AgentSession.Told(text: text + String(decoding: said, as: UTF8.self))
    }

    private func start(
        _ words: [String],
        _ output: Int32,
        _ errors: Int32,
        _ lifeline: Int32
    ) throws(CommandFailure) -> ChildProcess {
        let sockets = ["WAYSTATION_CONTROL_SOCKET", "WAYSTATION_SOCKET"]
        let variables =
            ["COLUMNS=160", "NO_COLOR=1"]
            + ["PATH", "TZ"].compactMap { name in environment(name).map { "\(name)=\($0)" } }
            + sockets.compactMap { name in (socket ?? environment(name)).map { "\(name)=\($0)" } }
        do throws(PosixError) {
            return try ChildProcess(
                "/proc/self/exe",
                words,
                variables: variables,
                descriptors: [
                    (0, .nothing), (1, .copy(output)), (2, .copy(errors)),
                    (Lifeline.descriptor, .copy(lifeline)),
                ]
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
