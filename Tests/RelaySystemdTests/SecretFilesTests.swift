import Glibc
import RelayBase
import RelayTestSupport
import Testing

@testable import RelaySystemd

@Suite("Secrets in files")
struct SecretFilesTests {
    private let folder = TemporaryFolder()

    private func file(_ text: String, mode: mode_t = 0o600) -> SecretReference {
        let path = folder.path + "/secret"
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        unsafe _ = write(descriptor, text, text.utf8.count)
        _ = fchmod(descriptor, mode)
        _ = close(descriptor)
        return .file(path)
    }

    @Test(
        "The line's end at the end is no part of a secret, and nothing else is left out",
        arguments: ["\n", "\r\n", ""]
    )
    func lineEnd(end: String) throws {
        #expect(try SecretFiles.read(file(" s3cret\n " + end)) == Secret(" s3cret\n "))
    }

    @Test(
        "A file that others may read is refused, and the refusal says what to do",
        arguments: [0o640, 0o604, 0o660]
    )
    func mode(mode: mode_t) {
        let reference = file("CANARY", mode: mode)
        let refusal = #expect(throws: Refusal.self) { try SecretFiles.read(reference) }
        #expect(refusal?.message.contains("may be read by others (mode \(String(mode, radix: 8)))") == true)
        #expect(refusal?.hint == "chmod 600 \(folder.path)/secret")
    }

    @Test(
        "A file that is empty or too large is refused without a byte of it",
        arguments: [("\n", "is empty"), (String(repeating: "CANARY", count: 20_000), "cannot be read")]
    )
    func unfit(text: String, words: String) {
        let reference = file(text)
        let refusal = #expect(throws: Refusal.self) { try SecretFiles.read(reference) }
        #expect(refusal?.message.contains(words) == true, "\(refusal?.message ?? "accepted")")
        #expect(refusal?.message.contains("CANARY") == false)
    }

    @Test(
        "A directory, and a file that is not there, are refused with the reason",
        arguments: [("", "it is not a regular file"), ("/none", "No such file or directory")]
    )
    func noFile(name: String, words: String) {
        let refusal = #expect(throws: Refusal.self) {
            try SecretFiles.read(.file(folder.path + name))
        }
        #expect(refusal?.message.contains("cannot be read: \(words)") == true)
    }

    @Test("A credential's name leads out of no directory", arguments: ["", ".", "..", "a/b", "../x"])
    func name(name: String) {
        let refusal = #expect(throws: Refusal.self) { try SecretFiles.read(.credential(name)) }
        #expect(refusal?.message == "a credential's name is a plain file name")
    }

    @Test("A variable that is not set is refused by name")
    func variable() {
        let refusal = #expect(throws: Refusal.self) {
            try SecretFiles.read(.environment("RELAY_TESTS_NO_SUCH_VARIABLE"))
        }
        #expect(refusal?.message == "environment variable RELAY_TESTS_NO_SUCH_VARIABLE is not set or empty")
    }
}
