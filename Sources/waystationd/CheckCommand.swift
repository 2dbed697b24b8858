import RelayConfig

/// `--check` and `--effective`: everything a start would find wrong with the configuration, at once.
enum CheckCommand {
    /// - Returns: the exit status.
    static func run(_ arguments: Arguments) -> Int32 {
        let file = arguments.file ?? ConfigurationLoader.defaultFile()
        do throws(ConfigurationRejected) {
            let loaded = try ConfigurationLoader.load(file)
            if arguments.command == .effective {
                Output.text(loaded.effective?.text() ?? "")
                return 0
            }
            let warnings = loaded.warnings + ListenerDirectory.warnings(loaded)
            if arguments.isJSON {
                Output.bytes(Diagnostic.json(warnings))
            } else {
                Output.error(Diagnostic.render(warnings))
                let count = loaded.configuration.routes.count
                Output.text("\(file): ok, \(count) route\(count == 1 ? "" : "s")\n")
            }
            return arguments.isStrict && !warnings.isEmpty ? 78 : 0
        } catch {
            if arguments.isJSON {
                Output.bytes(Diagnostic.json(error.diagnostics))
            } else {
                Output.error(error.text)
            }
            return 78
        }
    }
}
