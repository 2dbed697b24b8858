import Glibc
import RelayConfig
import RelayPosix
import RelaySystemd

@main
enum Main {
    static func main() {
        let arguments: Arguments
        do throws(Arguments.UsageError) {
            arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
        } catch {
            Output.error("waystationd: \(error.message)\n\n\(Arguments.help)\n")
            exit(64)
        }
        switch arguments.command {
        case .version: Output.text("waystationd \(Version.text)\n")
        case .help: Output.text(Arguments.help + "\n")
        case .schema: Output.bytes(Schema.json)
        case .manual: Output.text(ManualPage.text)
        case .check, .effective: exit(CheckCommand.run(arguments))
        case .serve: serve(arguments)
        }
    }

    private static func serve(_ arguments: Arguments) -> Never {
        // Before the first thread: whoever starts one inherits this.
        SignalWatcher.block([SIGHUP, SIGTERM, SIGINT])
        SignalWatcher.ignoreBrokenPipes()
        SignalWatcher.ignoreFileSizeLimit()
        ProcessLimits.apply()
        let file = arguments.file ?? ConfigurationLoader.defaultFile()
        let loaded: LoadedConfiguration
        do throws(ConfigurationRejected) {
            loaded = try ConfigurationLoader.load(file)
        } catch {
            fail(78, ENOEXEC, error.summary, records(error))
        }
        let activated: ActivatedSockets
        do throws(ActivationError) {
            // Before the first thread: the variables go.
            activated = try ActivatedSockets.fromEnvironment()
        } catch {
            fail(69, EADDRNOTAVAIL, error.description, [JournalRecord(.error, nil, error.description)])
        }
        let journal = Journal(sink: .detected())
        do throws(Daemon.StartError) {
            let daemon = try Daemon(
                loaded,
                loops: arguments.loops ?? ProcessLimits.cores,
                directory: try takeStateDirectory(loaded),
                journal: journal
            )
            daemon.recordLoaded(loaded, verb: "loaded")
            try daemon.open(try listeners(loaded, activated))
            try daemon.deliver()
            try daemon.run()
        } catch {
            journal.flush()
            fail(69, EADDRNOTAVAIL, error.message, [JournalRecord(.error, nil, error.message)])
        }
    }

    private static func listeners(
        _ loaded: LoadedConfiguration,
        _ activated: ActivatedSockets
    ) throws(Daemon.StartError) -> DaemonListeners {
        do throws(DaemonListeners.Refusal) {
            return try DaemonListeners(loaded.configuration.listeners, activated: activated)
        } catch {
            throw Daemon.StartError(message: error.message)
        }
    }

    private static func takeStateDirectory(_ loaded: LoadedConfiguration) throws(Daemon.StartError) -> String
    {
        let given = SecretFiles.environment("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        do throws(StateDirectory.Refusal) {
            let directory = given ?? loaded.configuration.storage.directory
            try StateDirectory.make(directory)
            return directory
        } catch {
            throw Daemon.StartError(message: error.message)
        }
    }

    /// One for each finding, so that each begins like the others; none where people read: they get the text of
    /// `--check`.
    private static func records(_ rejected: ConfigurationRejected) -> [JournalRecord] {
        let sink = JournalSink.detected()
        if sink == .plainLines || sink == .colouredLines {
            Output.error(rejected.text)
            return []
        }
        return rejected.texts.map { severity, text in
            JournalRecord(severity == .error ? .error : .warning, .configRejected, text.trimmedEnd)
        }
    }

    /// Says why on the terminal or in the journal, and in `systemctl status`.
    private static func fail(
        _ code: Int32,
        _ errno: Int32,
        _ summary: String,
        _ records: [JournalRecord]
    ) -> Never {
        let sink = JournalSink.detected()
        for record in records { sink.write(record) }
        let notifier = ServiceNotifier()
        notifier.send(.failed(errno: errno, status: summary))
        notifier.flush()
        exit(code)
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last == "\n" { text.removeLast() }
        return text
    }
}
