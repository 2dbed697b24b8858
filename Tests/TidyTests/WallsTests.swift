import Testing

/// The walls inside the tree, as numbers that may only fall.
@Suite("Walls stand")
struct WallsTests {
    private static let sources = TidyTests.files("Sources").filter { $0.hasSuffix(".swift") }

    @Test("Arrows between targets point only downward, and there is no target that nobody has drawn")
    func arrows() {
        let allowed: [String: Set<String>] = [
            "RelayJSON": [], "RelayBase": ["RelayJSON"],
            "RelayRoute": ["RelayBase", "RelayJSON"],
            "RelayJobs": ["RelayBase", "RelayJSON"],
            "RelayCore": ["RelayBase", "RelayJobs", "RelayJSON", "RelayRoute"],
            "RelayInterface": ["RelayBase", "RelayJobs", "RelayJSON", "RelayRoute"],
            "RelayHTTP": ["RelayBase", "RelayJSON", "RelayRoute"],
            "RelayKit": ["RelayBase", "RelayCore", "RelayJobs", "RelayJSON", "RelayRoute"],
            "RelayFoundation": ["RelayJSON", "RelayKit", "FoundationEssentials"],
            "RelayDoors": ["RelayBase", "RelayKit", "RelayRoute", "Darwin", "Glibc", "Musl"],
            "RelayTesting": ["RelayBase", "RelayRoute"],
            "RelayConfig": ["RelayBase", "RelayJSON", "RelayRoute"],
            "RelayPosix": ["CLinux", "Glibc"],
            "RelayTransport": [
                "RelayBase", "RelayHTTP", "RelayPosix", "RelayRoute", "COpenSSL", "CZlib", "Glibc",
            ],
            "RelaySockets": ["RelayBase", "RelayCore", "RelayKit", "RelayRoute", "RelayTransport"],
            "RelayEngine": ["RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute"],
            "RelayServer": [
                "CPage", "RelayBase", "RelayCore", "RelayEngine", "RelayHTTP", "RelayInterface", "RelayJobs",
                "RelayJSON", "RelayPosix", "RelayRoute",
            ],
            "RelayRecords": ["RelayBase", "RelayJobs", "CLinux"],
            "RelayStore": [
                "RelayBase", "RelayJobs", "RelayPosix", "RelayRecords", "CLinux", "CSQLite", "CSQLiteFiles",
                "Glibc",
            ],
            "RelayPostgres": ["CPostgres", "RelayBase", "RelayPosix", "Glibc"],
            "RelayFleet": ["RelayBase", "RelayJobs", "RelayPosix", "RelayPostgres", "RelayRecords"],
            "RelaySystemd": ["RelayBase", "RelayJSON", "RelayPosix", "CLinux", "CSystemd", "Glibc"],
            "RelayClient": ["RelayBase", "RelayHTTP", "RelayInterface", "RelayJSON", "RelayPosix", "Glibc"],
            "RelayClientFoundation": ["RelayClient", "FoundationEssentials"],
            "WaystationUI": ["RelayBase", "RelayClient", "RelayHTTP", "RelayJSON", "RelayPosix", "Glibc"],
            "waystationd": [
                "CLinux", "RelayBase", "RelayConfig", "RelayCore", "RelayEngine", "RelayFleet",
                "RelayInterface", "RelayJobs", "RelayJSON", "RelayPosix", "RelayPostgres", "RelayRoute",
                "RelayServer", "RelayStore", "RelaySystemd", "RelayTransport", "Glibc",
            ],
            "waystation": [
                "RelayBase", "RelayClient", "RelayConfig", "RelayFleet", "RelayHTTP", "RelayInterface",
                "RelayJobs", "RelayJSON", "RelayPosix", "RelayPostgres", "RelayRoute", "WaystationUI",
                "Glibc",
            ],
        ]
        for path in Self.sources {
            let target = String(path.split(separator: "/")[1])
            guard let allowed = allowed[target] else {
                Issue.record("\(path): no arrows are drawn for \(target)")
                continue
            }
            for imported in Self.imports(path) where imported != "Synchronization" {
                #expect(allowed.contains(imported), "\(path) imports \(imported)")
            }
        }
    }

    @Test("No header of C remembers anything, since each module that uses it would have its own copy")
    func headers() {
        let headers = TidyTests.files("Sources").filter { $0.hasSuffix(".h") }
        #expect(headers.count > 5)
        for path in headers {
            for line in TidyTests.text(path).split(separator: "\n") where Self.remembers(line) {
                Issue.record("\(path): \(line)")
            }
        }
    }

    @Test(
        "A variable of a header that remembers is found",
        arguments: [
            ("    static struct calls calls;", true), ("static _Thread_local int error = 0;", true),
            ("static inline int page(void) {", false), ("static const char name[] = \"x\";", false),
        ]
    )
    func remembering(line: String, isFound: Bool) { #expect(Self.remembers(line[...]) == isFound) }

    private static func remembers(_ line: Substring) -> Bool {
        let words = line.split(separator: " ")
        return words.first == "static" && words.dropFirst().first != "const" && !line.contains("(")
    }

    @Test("A change of one function of traffic has at most seven other targets of Sources made anew")
    func aboveTraffic() {
        let needs = Self.dependencies(TidyTests.text("Package.swift"))
        #expect(needs.count > 15 && needs["RelayHTTP"]?.contains("RelayBase") == true)
        var above: Set<String> = ["RelayCore"]
        while let next = needs.first(where: { !above.contains($0.key) && !above.isDisjoint(with: $0.value) })
        {
            above.insert(next.key)
        }
        #expect(TidyTests.files("Sources/RelayCore/Traffic").count > 20)
        #expect(above.count <= 8, "\(above.sorted())")
        let spared: Set = [
            "RelayHTTP", "RelayConfig", "RelayTransport", "RelayStore", "RelayClient", "waystation",
        ]
        #expect(above.isDisjoint(with: spared))
    }

    /// The targets of `Sources` that each of them needs, as the package says.
    private static func dependencies(_ package: String) -> [String: Set<String>] {
        let ours = Set(sources.map { String($0.split(separator: "/")[1]) })
        var needs: [String: Set<String>] = [:]
        var (target, isInTargets) = ("", false)
        for line in package.split(separator: "\n") {
            if line.hasPrefix("    targets: [") { isInTargets = true }
            guard isInTargets else { continue }
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() where index % 2 == 1 {
                let name = String(part)
                if parts[index - 1].hasSuffix("name: ") {
                    target = name
                } else if ours.contains(target), ours.contains(name) {
                    needs[target, default: []].insert(name)
                }
            }
        }
        return needs
    }

    private static func imports(_ path: String) -> [String] {
        TidyTests.text(path).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"), place <= 2, words.count > place + 1,
                !line.hasPrefix("//"), !line.hasPrefix(" ")
            else { return nil }
            return String(words[place + 1])
        }
    }

    @Test("Folders of one target that name each other's types become fewer")
    func foldersBothWays() {
        let pairs = Self.pairs(Self.sources)
        let counts = pairs.mapValues(\.count).filter { $0.value > 0 }
        // A smaller number takes the place of a larger one here; a larger one is a wall that was broken.
        let known = ["RelayServer": 2]
        #expect(counts == known, "\(pairs)")
    }

    @Test("A type that stands in each of two folders and names the other is found")
    func foldersAreSeen() {
        let texts = [
            "A/x": "struct One { let two: Two }", "B/y": "enum Two { case one(One) }", "C/z": "// One\n",
        ]
        #expect(Self.pairs(texts.map { (folder: String($0.key.prefix(1)), text: $0.value) }) == ["A and B"])
    }

    @Test("No comment, docstring or title of a test begins with a relative: its subject is a noun")
    func subjects() {
        let paths = (Self.sources + TidyTests.files("Tests") + TidyTests.files("deploy")).filter { path in
            [".swift", ".py", ".js", ".c", ".h", ".sh"].contains { path.hasSuffix($0) } || !path.contains(".")
        }
        #expect(paths.count > 1_000)
        for path in paths {
            for line in TidyTests.text(path).split(separator: "\n") where Self.beginsWithRelative(line) {
                Issue.record("\(path): \(line)")
            }
        }
    }

    @Test(
        "Such a beginning is found",
        arguments: [
            ("    /// What is left.", true), ("// Who asks", true), ("# Whatever comes", true),
            ("    @Test(\"Whoever waits\")", true), ("\"\"\"What it is.\"\"\"", true),
            ("/// What now?", false),
            ("/// Whole numbers.", false), ("let what = 1", false),
        ]
    )
    func relative(line: String, isFound: Bool) { #expect(Self.beginsWithRelative(line[...]) == isFound) }

    private static func beginsWithRelative(_ line: Substring) -> Bool {
        let text = line.drop { $0 == " " }
        for mark in ["///", "//", "# ", "\"\"\"", "@Test(\"", "@Suite(\""] where text.hasPrefix(mark) {
            let word = text.dropFirst(mark.count).drop { $0 == " " }.prefix { $0.isLetter }
            let relatives = ["What", "Who", "Whom", "Whose", "Whoever", "Whatever", "Whichever"]
            return relatives.contains(String(word)) && !text.hasSuffix("?")
        }
        return false
    }

    /// The pairs of folders of each target that point both ways.
    private static func pairs(_ paths: [String]) -> [String: [String]] {
        Dictionary(grouping: paths) { String($0.split(separator: "/")[1]) }.mapValues { paths in
            pairs(
                paths.map { path in
                    let parts = path.split(separator: "/")
                    return (folder: parts.count > 3 ? String(parts[2]) : "(top)", text: TidyTests.text(path))
                }
            )
        }
    }

    private static func pairs(_ files: [(folder: String, text: String)]) -> [String] {
        var declared: [String: Set<String>] = [:]
        var named: [String: Set<String>] = [:]
        for file in files {
            let (types, words) = read(file.text)
            declared[file.folder, default: []].formUnion(types)
            named[file.folder, default: []].formUnion(words)
        }
        let folders = declared.keys.sorted()
        return folders.flatMap { one in
            folders.filter { other in
                guard one < other, let ofOne = declared[one], let ofOther = declared[other] else {
                    return false
                }
                return !(named[one] ?? []).isDisjoint(with: ofOther)
                    && !(named[other] ?? []).isDisjoint(with: ofOne)
            }.map { "\(one) and \($0)" }
        }
    }

    /// The types that a source declares outside of others, and all words of its code.
    private static func read(_ text: String) -> (types: Set<String>, words: Set<String>) {
        let keywords: Set<String> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        var (types, all): (Set<String>, Set<String>) = ([], [])
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let code = line.drop { $0 == UInt8(ascii: " ") }
            if code.starts(with: "//".utf8) { continue }
            // The words of a text name nothing.
            let quoted = code.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
            let plain = quoted.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            let words = plain.joined(separator: " ".utf8).split { byte in
                !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) && byte != UInt8(ascii: "_")
            }.map { String(decoding: Array($0), as: UTF8.self) }
            all.formUnion(words)
            guard line.startIndex == code.startIndex,
                let place = words.firstIndex(where: keywords.contains), place + 1 < words.count
            else { continue }
            types.insert(words[place + 1])
        }
        return (types, all)
    }
}
