import RelayConfig

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
                Output.error(error.text + Diagnostic.verdict(file, error.diagnostics, routes: nil))
            }
            return 78
        }
    }
}
