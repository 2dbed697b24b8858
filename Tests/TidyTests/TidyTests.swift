import Glibc
import Testing

/// Style that no formatter knows, as tests.
@Suite("The tree keeps its own rules")
struct TidyTests {
    static let root: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// Every file below `folder`, as a path from the root.
    static func files(_ folder: String) -> [String] {
        guard let directory = unsafe opendir("\(root)/\(folder)") else { return [] }
        defer { unsafe closedir(directory) }
        var found: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard !name.hasPrefix("."), name != "__pycache__" else { continue }
            let path = "\(folder)/\(name)"
            if unsafe entry.pointee.d_type == UInt8(DT_DIR) {
                found += files(path)
            } else {
                found.append(path)
            }
        }
        return found.sorted()
    }

    static func text(_ path: String) -> String {
        let descriptor = unsafe open("\(root)/\(path)", O_RDONLY)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Puts `text` in the place of a file's content.
    static func write(_ path: String, _ text: String) {
        let descriptor = unsafe open("\(root)/\(path)", O_WRONLY | O_TRUNC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static let sources = files("Sources").filter { $0.hasSuffix(".swift") }

    @Test("There are sources to look at")
    func somethingIsRead() {
        #expect(Self.sources.count > 100 && Self.text("Package.swift").contains("waystation"))
    }

    @Test("No source file is longer than 500 lines, and half of them are under 120")
    func lengths() {
        let lengths = Self.sources.map { path in
            (path, Self.text(path).split(separator: "\n", omittingEmptySubsequences: false).count)
        }
        #expect(lengths.filter { $0.1 > 501 }.map(\.0) == [])
        #expect(lengths.map(\.1).sorted()[lengths.count / 2] < 120)
    }

    @Test("Foundation and Dispatch stay out of every source but the bridge to Foundation's coders")
    func imports() {
        let banned = [
            "import Foundation", "import FoundationNetworking", "import FoundationEssentials",
            "import Dispatch",
        ]
        let found = Self.sources.filter { path in
            let text = Self.text(path)
            return banned.contains { text.contains($0) }
        }
        #expect(
            found == ["Sources/RelayClientFoundation/RelayClientError+Localized.swift"]
                + ["Coders", "Defaults", "Values"].map { "Sources/RelayFoundation/\($0).swift" }
        )
        for path in found {
            let imports = Self.text(path).split(separator: "\n").filter { $0.contains("import Foundation") }
            #expect(imports.allSatisfy { $0.hasSuffix("import FoundationEssentials") }, "\(path)")
        }
    }

    @Test("No room that is pure, nor what programs test with, takes in a C library of one system alone")
    func portable() {
        let pure = [
            "RelayJSON", "RelayBase", "RelayRoute", "RelayJobs", "RelayCore", "RelayInterface", "RelayKit",
            "RelayFoundation", "RelayHTTP", "RelayConfig", "RelayTesting",
        ]
        let sources = pure.flatMap { Self.files("Sources/\($0)") }.filter { $0.hasSuffix(".swift") }
        #expect(sources.count > 200)
        #expect(sources.filter { Self.isOfOneSystem(Self.text($0)) } == [])
        // The middleware's clock has a library for each system.
        let clock = "Sources/RelayDoors/ProgramTime.swift"
        #expect(Self.files("Sources/RelayDoors").filter { Self.isOfOneSystem(Self.text($0)) } == [clock])
        for name in ["Darwin", "Musl"] {
            #expect(
                Self.text(clock).contains("#if canImport(\(name))")
                    || Self.text(clock).contains("#elseif canImport(\(name))")
            )
        }
        #expect(Self.text("Package.swift").contains("platforms: [.macOS(.v15), .iOS(.v18)]"))
    }

    @Test(
        "Such an import is found",
        arguments: [("import Glibc", true), ("package import Musl", true), ("// import Glibc", false)]
    )
    func portableControl(line: String, isFound: Bool) { #expect(Self.isOfOneSystem("\(line)\n") == isFound) }

    private static func isOfOneSystem(_ text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            !line.hasPrefix("//")
                && ["Glibc", "Musl", "Darwin", "CLinux"].contains { line.hasSuffix("import \($0)") }
        }
    }

    @Test("Neither the daemon nor its command nor any room of theirs takes in the bridge to Foundation")
    func bridge() {
        let named = Self.text("Package.swift").split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.contains("\"RelayFoundation") }
        #expect(
            named == [
                ".library(name: \"RelayFoundation\", targets: [\"RelayFoundation\"]),",
                ".target(name: \"RelayFoundation\", dependencies: [\"RelayJSON\", \"RelayKit\"]),",
                "name: \"RelayFoundationTests\",",
                "dependencies: [\"RelayFoundation\", \"RelayJSON\", \"RelayKit\", \"RelayTestSupport\"]",
                "dependencies: [\"RelayFoundation\", \"RelayKit\", \"RelaySockets\", \"RelayTesting\"]",
            ]
        )
        #expect(Self.sources.filter { Self.text($0).contains("import RelayFoundation") } == [])
    }

    @Test(
        "The typed library is met by no room but its own bridges: to Foundation, to sockets, and to other clients"
    )
    func library() {
        let found = Self.sources.filter {
            !$0.hasPrefix("Sources/RelayFoundation/") && Self.text($0).contains("import RelayKit")
        }
        #expect(
            found == [
                "Sources/RelayDoors/FunctionMiddleware.swift", "Sources/RelayDoors/RelayMiddleware.swift",
                "Sources/RelaySockets/RelayService+Sockets.swift",
            ]
        )
    }

    @Test("Unchecked promises to the compiler stand where they are known")
    func uncheckedPromises() {
        let unchecked = Self.sources.filter { Self.text($0).contains("@unchecked Sendable") }
        #expect(unchecked == ["Sources/RelayPosix/Loop/LoopBound.swift"])
    }

    @Test("Nothing is left undone, switched off or said of this machine")
    func leftovers() {
        // Put together here, so that this file does not find itself.
        let banned = [
            "TO" + "DO", "FIX" + "ME", "with" + "KnownIssue", ".dis" + "abled(", "../sha" + "red",
            "." + "library/",
        ]
        let all =
            Self.files("Sources") + Self.files("Tests") + Self.files("deploy") + Self.files("config") + [
                "README.md", "Package.swift",
            ]
        for path in all where path.hasSuffix(".swift") || path.hasSuffix(".md") || path.hasSuffix(".py") {
            let text = Self.text(path)
            #expect(banned.filter { text.contains($0) } == [], "\(path)")
        }
    }

    @Test("Nobody asks for the name of a character, which deploy/build leaves out of the programs")
    func characterNames() {
        let asking = Self.sources.filter { path in
            let text = Self.text(path)
            return [".properties.name", "\\.properties"].contains { text.contains($0) }
        }
        #expect(asking == [])
        #expect(Self.text("deploy/build").contains("_swift_stdlib_getScalarName"))
    }

    @Test("Type names say what a thing is", arguments: ["Manager", "Helper", "Util", "Info"])
    func names(word: String) {
        let found = Self.sources.filter { path in
            Self.text(path).split(separator: "\n").contains { line in
                guard !line.contains("//") else { return false }
                return ["struct ", "class ", "enum ", "protocol ", "actor "].contains { keyword in
                    guard let range = line.split(separator: " ").firstIndex(of: Substring(keyword.dropLast()))
                    else { return false }
                    let names = line.split(separator: " ").dropFirst(range + 1)
                    return names.first.map { $0.prefix { $0.isLetter }.hasSuffix(word) } ?? false
                }
            }
        }
        #expect(found == [])
    }
}
