import Glibc

@main
enum Main {
    static func main() {
        // Sets and dictionaries take their order from a seed of the process unless this is set.
        if unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            unsafe setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        }
        guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else {
            print(Arguments.usage)
            exit(64)
        }
        if arguments.playsScenarios { exit(ScenarioBatch.run(arguments.scenario, seed: arguments.seed)) }
        let worlds = arguments.worlds
        exit(arguments.runsControls ? worlds.controls(arguments) : worlds.simulate(arguments))
    }
}
