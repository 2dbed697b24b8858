import RelayBase
import Testing

@testable import waystation

@Suite("Command line")
struct ArgumentsTests {
    private let options = [
        OptionSpec("request", "X", value: "METHOD", "the method"),
        OptionSpec("header", "H", value: "FIELD", "a field"),
        OptionSpec("include", "i", "the head, too"),
    ]

    @Test(
        "an option's value may be attached or follow",
        arguments: [["-X", "PUT"], ["-XPUT"], ["--request", "PUT"], ["--request=PUT"]]
    )
    func spellings(words: [String]) throws {
        let arguments = try Arguments(words, of: "send", options: options)
        #expect(arguments["request"] == "PUT")
        #expect(arguments.operands == [])
    }

    @Test("options and operands may stand in any order, and -- ends the options")
    func order() throws {
        let arguments = try Arguments(
            ["a", "-i", "-H", "A: 1", "b", "-HB: 2", "--", "-i", "-"],
            of: "send",
            options: options
        )
        #expect(arguments.operands == ["a", "b", "-i", "-"])
        #expect(arguments.all("header") == ["A: 1", "B: 2"])
        #expect(arguments.has("include"))
    }

    @Test(
        "what is not understood is told, with what was probably meant",
        arguments: [
            (["--reqest", "PUT"], "there is no option --reqest; did you mean --request?"),
            (["-z"], "there is no option -z"), (["--request"], "--request needs a value: METHOD"),
            (["--include=yes"], "--include takes no value"), (["--"], ""),
        ]
    )
    func mistakes(words: [String], message: String) {
        var told = ""
        do throws(CommandFailure) {
            _ = try Arguments(words, of: "send", options: options)
        } catch {
            told = error.message
            #expect(error.code == .usage)
        }
        #expect(told == message)
    }

    @Test(
        "what cannot be a job's id is not asked for",
        arguments: [
            "nonsense", "", "01K9ZQ3V7N4T0C8R5B2M6XW1H", "01K9ZQ3V7N4T0C8R5B2M6XW1HDA",
            "01K9ZQ3V7N4T0C8R5B2M6XW1HI",
            "81K9ZQ3V7N4T0C8R5B2M6XW1HD", "01K9ZQ3V7N4T0C8R5B2M6XW1É",
        ]
    )
    func noJobID(word: String) {
        let error = #expect(throws: CommandFailure.self) { try jobID(word) }
        #expect(error?.code == .usage && error?.message.contains("is not a job id: 26 digits") == true)
    }

    @Test("a job's id may be written in small letters")
    func smallJobID() throws {
        #expect(try jobID("01k9zq3v7n4t0c8r5b2m6xw1hd") == "01K9ZQ3V7N4T0C8R5B2M6XW1HD")
    }

    @Test("a misspelled command is answered with the nearest one")
    func command() {
        #expect(
            CommandFailure.unknownCommand("relaod").message
                == "there is no command \"relaod\"; did you mean \"reload\"?"
        )
        #expect(CommandFailure.unknownCommand("zzzzzz").message == "there is no command \"zzzzzz\"")
    }

    @Test("every command is found by its name and has a help text", arguments: Command.all.map(\.name))
    func help(name: String) throws {
        let command = try #require(Command.named(name))
        #expect(command.help.hasPrefix("usage: waystation \(name)"))
        #expect(command.help.split(separator: "\n").allSatisfy { $0.count <= 110 })
    }

    @Test("what the options of a command do stands in one column", arguments: Command.all.map(\.name))
    func column(name: String) throws {
        let command = try #require(Command.named(name))
        let lines = command.help.split(separator: "\n").suffix(command.options.count)
        let columns = zip(lines, command.options).map { line, option in
            String(line).dropLast(option.summary.count).count
        }
        #expect(Set(columns).count <= 1)
        #expect(zip(lines, command.options).allSatisfy { $0.hasSuffix("  " + $1.summary) })
    }

    @Test(
        "the nearest name has few changes",
        arguments: [("staus", "status"), ("send", "send"), ("sned", "send"), ("x", nil), ("", nil)]
    )
    func nearest(text: String, name: String?) {
        #expect(nearestWord(to: text, among: ["status", "send", "check"]) == name)
    }
}
