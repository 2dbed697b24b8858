import Glibc
import RelayBase
import RelayConfig
import RelayPosix
import RelayPostgres
import RelayServer
import RelaySystemd

@main
enum Main {
    static func main() {
        let arguments: Arguments
        do throws(Arguments.UsageError) {
            arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
        } catch {
            Output.error("waystationd: \(error.message)\n\n\(Arguments.help)\n")
            let sockets = try? ActivatedSockets.fromEnvironment()
            FailedStart(sockets: sockets?.listeners ?? [], file: nil).refuseCallers(
                "waystationd: \(error.message)"
            )
            exit(64)
        }
        switch arguments.command {
        case .version: Output.text("waystationd \(Version.text)\n")
        case .help: Output.text(Arguments.help + "\n")
        case .schema: Output.bytes(Schema.json)
        case .openAPI: Output.bytes(OpenAPI.json)
        case .manual: Output.text(ManualPage.text)
        case .metricsManual: Output.text(MetricsPage.text)
        case .whatIf: exit(WhatIfCommand.run(arguments))
        case .check, .effective: exit(CheckCommand.run(arguments))
        case .serve: serve(arguments)
        }
    }

    private static func serve(_ arguments: Arguments) -> Never {
        // Before the first thread: whoever starts one inherits this.
        SignalWatcher.block(FailedStart.signals)
        SignalWatcher.ignoreBrokenPipes()
        SignalWatcher.ignoreFileSizeLimit()
        ProcessLimits.apply()
        let activated: ActivatedSockets
        do throws(ActivationError) {
            // Before the first thread: the variables go.
            activated = try ActivatedSockets.fromEnvironment()
        } catch {
            FailedStart(sockets: [], file: nil).end(69, error.description)
        }
        let file = absolute(arguments.file ?? ConfigurationLoader.defaultFile())
        let failed = FailedStart(sockets: activated.listeners, file: file)
        let loaded: LoadedConfiguration
        do throws(ConfigurationRejected) {
            loaded = try ConfigurationLoader.load(file, passed: activated.listeners.map(\.name))
        } catch {
            failed.end(error)
        }
        let library = library(loaded, failed)
        let sink = JournalSink.detected(prefersJSON: loaded.configuration.log.format == .json)
        let journal = Journal(sink: sink)
        let directory = stateDirectory(loaded)
        do throws(StartError) {
            // A start that cannot be leaves nothing behind.
            try checkDirectories(loaded, activated)
            try StateDirectory.make(directory)
            let daemon = try Daemon(
                loaded,
                loops: arguments.loops ?? ProcessLimits.cores,
                passThrough: arguments.passThrough,
                directory: directory,
                passed: activated.listeners.map(\.name),
                library: library,
                journal: journal
            )
            daemon.recordLoaded(loaded, verb: "loaded")
            daemon.recordNamespace()
            let listeners = try DaemonListeners(loaded.configuration.listeners, activated: activated)
            daemon.recordOverridden(
                loaded.configuration.storage.directory,
                by: directory,
                listeners.overridden
            )
            try daemon.open(listeners)
            try daemon.deliver()
            try daemon.run()
        } catch {
            journal.flush()
            if error.needsMending { failed.end(error, in: directory, sink) }
            failed.end(69, error.message, sink)
        }
    }

    /// - Throws: what the directories of sockets lack that it would have to open.
    private static func checkDirectories(
        _ loaded: LoadedConfiguration,
        _ activated: ActivatedSockets
    ) throws(StartError) {
        for listener in loaded.configuration.listeners where activated.named(listener.name).isEmpty {
            guard let fault = ListenerDirectory.fault(listener) else { continue }
            throw StartError(message: "cannot open the listener \(listener.name): \(fault)")
        }
    }

    /// The database's library, where a database is configured; opened before the first thread, since variables go.
    private static func library(_ loaded: LoadedConfiguration, _ failed: FailedStart) -> PostgresLibrary? {
        guard loaded.configuration.storage.postgresql != nil else { return nil }
        do throws(PostgresError) { return try PostgresLibrary.open() } catch { failed.end(69, error.message) }
    }

    /// The same file from the root on, as those can read it who are told of it.
    private static func absolute(_ file: String) -> String {
        guard !file.hasPrefix("/"), let directory = unsafe getcwd(nil, 0) else { return file }
        defer { unsafe free(directory) }
        return "\(unsafe String(cString: directory))/\(file)"
    }

    private static func stateDirectory(_ loaded: LoadedConfiguration) -> String {
        let given = environment("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        return given ?? loaded.configuration.storage.directory
    }
}

/// Writes to standard output and standard error, whole.
enum Output {
    static func text(_ text: String) { bytes(Array(text.utf8)) }

    static func bytes(_ bytes: [UInt8]) { _ = writeAll(bytes, to: STDOUT_FILENO) }

    static func error(_ text: String) { _ = writeAll(Array(text.utf8), to: STDERR_FILENO) }
}
