import Glibc
import RelayBase
import RelayClient
import RelayInterface
import RelayJSON
import RelayJobs
import RelayPosix
import Synchronization

extension Command {
    static let demo = Command(
        "demo",
        "",
        "Shows the relay recover from an upstream that misbehaves; needs no root and leaves nothing.",
        details: """
            Starts waystationd in a temporary directory and an upstream on 127.0.0.1, sends a request for each
            kind of trouble and prints what happened, attempt by attempt. Takes a few seconds.

            """
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        return try Demo.run()
    }
}

/// The demo from beginning to end.
private enum Demo {
    static func run() throws(CommandFailure) -> ExitCode {
        // Before the first thread, so that only `endOnSignal` sees them.
        SignalWatcher.block([SIGINT, SIGTERM, SIGHUP])
        let began = SystemClock.monotonic()
        let upstream: ScriptedUpstream
        do throws(PosixError) {
            upstream = try ScriptedUpstream()
        } catch {
            throw CommandFailure(.failed, "cannot start the demo's upstream: \(error)")
        }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let configuration = DemoConfiguration(
            directory: directory.path,
            port: upstream.port,
            refusingPort: upstream.refusingPort
        )
        try directory.write(configuration.text, to: configuration.file)
        try directory.write("demo-secret\n", to: configuration.secretFile)
        let daemon = try DemoDaemon(configuration: configuration)
        defer { daemon.stop() }
        let isInterrupted = Mutex(false)
        endOnSignal {
            isInterrupted.withLock { $0 = true }
            daemon.stop()
            directory.remove()
        }
        do throws(CommandFailure) {
            try daemon.waitUntilReady(control(configuration))
            return try play(upstream, configuration, began)
        } catch {
            // The daemon went because a signal came: the signal's thread tidies up and ends the program.
            while isInterrupted.withLock({ $0 }) { pause() }
            throw error
        }
    }

    private static func control(_ configuration: DemoConfiguration) -> RelayClient {
        var control = RelayClient(socketPath: configuration.controlSocket)
        control.timeout = .seconds(5)
        return control
    }

    /// Sends every scene's request and shows what became of it.
    private static func play(
        _ upstream: ScriptedUpstream,
        _ configuration: DemoConfiguration,
        _ began: Int64
    ) throws(CommandFailure) -> ExitCode {
        let control = control(configuration)
        var jobs = RelayClient(socketPath: configuration.jobsSocket)
        jobs.timeout = .seconds(15)
        let output = Output.standard
        output.write(output.styled("Waystation demo", .bold))
        output.write(": the relay, and an upstream that misbehaves, both on this machine.\n")
        var unexpected = 0
        for (index, scene) in DemoScene.all.enumerated() {
            let isAsScripted = try show(scene, number: index + 1, jobs: jobs, control: control)
            unexpected += isAsScripted ? 0 : 1
        }
        let seen = upstream.count(of: "/orders/new")
        let keyed = upstream.count(of: "/orders/keyed")
        output.write("\nThe upstream saw the order without a key \(times(seen))")
        output.write(", and the one with a key \(times(keyed)).\n")
        let took = Double(SystemClock.monotonic() - began) / 1_000_000
        return conclude(unexpected + (seen == 1 && keyed == 2 ? 0 : 1), after: took)
    }

    private static func times(_ count: Int) -> String {
        count == 1 ? "once" : count == 2 ? "twice" : "\(count) times"
    }

    private static func conclude(_ unexpected: Int, after milliseconds: Double) -> ExitCode {
        let output = Output.standard
        guard unexpected == 0 else {
            output.write(output.styled("\(unexpected) of them did not go as they should.\n", .red))
            return .failed
        }
        let count = DemoScene.all.count
        output.write(
            "\(count) requests, each with one outcome, in \(DurationText.short(milliseconds: milliseconds)).\n"
        )
        output.write("Next: put your own upstream into a file and run: waystation check FILE\n")
        return .done
    }

    /// Sends the scene's request and prints what happened; false when it was not what must happen.
    private static func show(
        _ scene: DemoScene,
        number: Int,
        jobs: RelayClient,
        control: RelayClient
    ) throws(CommandFailure) -> Bool {
        let output = Output.standard
        output.write("\n" + output.styled("\(number). \(scene.title)", .bold) + "\n")
        output.write("   \(scene.method.rawValue) /r/\(scene.route)/\(scene.path)")
        output.write(scene.key.map { "   Idempotency-Key: \"\($0)\"\n" } ?? "\n")
        var fields = HeaderFields()
        if let key = scene.key { fields.append("Idempotency-Key", "\"\(key)\"") }
        if !scene.body.isEmpty { fields.append("Content-Type", "application/json") }
        let response: RelayResponse
        do throws(RelayClientError) {
            response = try jobs.blockingRequest(
                scene.method,
                "/r/\(scene.route)/\(scene.path)",
                fields: fields,
                body: Array(scene.body.utf8)
            )
        } catch {
            throw CommandFailure(error, socketPath: jobs.socketPath)
        }
        output.write(timeline(of: response, control))
        let firstLine = response.text.split(separator: "\n").first.map { safe(String($0.prefix(100))) } ?? ""
        if !firstLine.isEmpty && response.source != .relay { output.write("            \(firstLine)\n") }
        output.write("   \(output.styled(scene.moral, .dim))\n")
        let isAsScripted = response.status == scene.status && response.attempts == scene.attempts
        if !isAsScripted {
            output.write(
                output.styled(
                    "   Expected \(scene.status.rawValue) after \(scene.attempts) attempts, got"
                        + " \(response.status.rawValue) after \(response.attempts ?? 0).\n",
                    .red
                )
            )
        }
        return isAsScripted
    }

    /// The job's timeline as the daemon tells it, or what the answer's own fields say.
    private static func timeline(of response: RelayResponse, _ control: RelayClient) -> String {
        if let id = response.job, id.utf8.allSatisfy(isTokenByte),
            let answer = try? control.blockingRequest(.get, "/v1/jobs/\(id)"), answer.status == 200,
            let job = try? JSONValue(parsing: answer.body)
        {
            return JobDocument(job).elapsed(for: .standard)
        }
        let told = [FieldName.proxyStatus, .serverTiming].compactMap { response.fields[$0] }.map(safe)
        return told.map { "            \($0)\n" }.joined()
    }

    /// Tidies up and ends the program when a signal asks for it.
    private static func endOnSignal(_ tidy: @escaping @Sendable () -> Void) {
        try? startDetachedThread("signals") {
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, number) }
            var number: Int32 = 0
            guard unsafe sigwait(&signals, &number) == 0 else { return }
            tidy()
            exit(128 + number)
        }
    }
}
