extension Command {
    static let check = Command("check", "[FILE]", "Checks a configuration.") { _ throws(CommandFailure) in
        .done
    }
    static let demo = Command("demo", "", "Shows the relay at work.") { _ throws(CommandFailure) in .done }
}
