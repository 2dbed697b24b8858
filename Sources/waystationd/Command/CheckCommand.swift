import RelayConfig
import RelayInterface
import RelayPosix
import RelaySystemd

/// `--check` and `--effective`: everything a start would find wrong with the configuration, at once.
enum CheckCommand {
    /// - Returns: the exit status.
    static func run(_ arguments: Arguments) -> Int32 {
        let file = arguments.file ?? ConfigurationLoader.defaultFile()
        do throws(ConfigurationRejected) {
            let loaded = try ConfigurationLoader.load(file)
            if arguments.command == .effective {
                Output.text(loaded.outline.effective()?.text() ?? "")
                return 0
            }
            let warnings = loaded.warnings + ListenerDirectory.warnings(loaded)
            let isRefused = arguments.isStrict && !warnings.isEmpty
            if arguments.isOnline, !isRefused {
                Output.error(
                    JournalText.escaped(Diagnostic.render(warnings), limit: .max, keepsLines: true)
                )
                return look(loaded, arguments)
            }
            if arguments.isJSON {
                Output.bytes(Diagnostic.json(warnings))
            } else {
                Output.error(Diagnostic.render(warnings))
                let routes = isRefused ? nil : loaded.configuration.routes.count
                let verdict = Diagnostic.verdict(file, warnings, routes: routes)
                if isRefused { Output.error(verdict) } else { Output.text(verdict) }
            }
            return isRefused ? 78 : 0
        } catch {
            if arguments.isJSON {
                Output.bytes(Diagnostic.json(error.diagnostics))
            } else {
                let verdict = Diagnostic.verdict(file, error.diagnostics, routes: nil)
                Output.error(JournalText.escaped(error.text + verdict, limit: .max, keepsLines: true))
            }
            return 78
        }
    }

    /// Goes to the endpoints, as their first requests would.
    private static func look(_ loaded: LoadedConfiguration, _ arguments: Arguments) -> Int32 {
        let text: OnlineText
        do throws(PosixError) {
            text = OnlineText(
                file: loaded.file,
                findings: try OnlineVisit.run(loaded, limit: arguments.timeout ?? .seconds(10)),
                isStrict: arguments.isStrict
            )
        } catch {
            Output.error("waystationd: cannot look at the endpoints: \(error)\n")
            return 1
        }
        let isWell = text.isWell
        if arguments.isJSON {
            Output.bytes(text.document.bytes + [UInt8(ascii: "\n")])
        } else {
            Output.text(text.table)
            if isWell { Output.text(text.verdict) }
        }
        if !isWell { Output.error(text.verdict) }
        return isWell ? 0 : 1
    }
}
