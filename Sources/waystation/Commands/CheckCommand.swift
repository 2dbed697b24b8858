extension Command {
    static let check = Command("check", "[FILE]", "Checks a configuration.") { _ throws(CommandFailure) in
        .done
    }
}
