import RelayConfig

/// `--check` and `--effective`: everything a start would find wrong with the configuration, at once.
enum CheckCommand {
    private static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }

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
            if arguments.isJSON {
                Output.bytes(Diagnostic.json(warnings))
            } else {
                Output.error(Diagnostic.render(warnings))
                let isRefused = arguments.isStrict && !warnings.isEmpty
                let routes = count(loaded.configuration.routes.count, "route")
                let remark = warnings.isEmpty ? "" : ", \(count(warnings.count, "warning"))"
                let line = "\(file): \(isRefused ? count(0, "error") : "ok, \(routes)")\(remark)\n"
                if isRefused { Output.error(line) } else { Output.text(line) }
            }
            return arguments.isStrict && !warnings.isEmpty ? 78 : 0
        } catch {
            if arguments.isJSON {
                Output.bytes(Diagnostic.json(error.diagnostics))
            } else {
                let errors = error.diagnostics.count { $0.severity == .error }
                let warnings = error.diagnostics.count - errors
                let remark = warnings > 0 ? ", \(count(warnings, "warning"))" : ""
                Output.error(error.text + "\(file): \(count(errors, "error"))\(remark)\n")
            }
            return 78
        }
    }
}
