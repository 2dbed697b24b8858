/// `waystation __words page` and `waystation __words manual FILE`: the files of the tree that are made of the words of
/// the interface, for Tests/documents.
enum WordFiles {
    static let command = "__words"

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        switch (words.first, words.count) {
        case ("page", 1): Output.standard.write(PageWords.document)
        case ("manual", 2):
            let page = String(decoding: try FileBytes.read(path: words[1]), as: UTF8.self)
            Output.standard.write(try ManualWords.filled(page))
        default: throw CommandFailure(.usage, "\(command) takes page, or manual FILE")
        }
        return .done
    }
}
