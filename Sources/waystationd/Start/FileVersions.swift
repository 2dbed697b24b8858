import Glibc

/// Files and directories as they were at a moment, to be compared with what they are.
struct FileVersions {
    private var versions: [String: Version?]

    /// Facts that change with every change of a file, its mode or its owner; a directory's, as its files come and go.
    private struct Version: Equatable {
        let inode: ino_t
        let size: off_t
        let changed: Int64

        init?(_ path: String) {
            var facts = stat()
            guard unsafe stat(path, &facts) == 0 else { return nil }
            inode = facts.st_ino
            size = facts.st_size
            changed = Int64(facts.st_ctim.tv_sec) * 1_000_000_000 + Int64(facts.st_ctim.tv_nsec)
        }
    }

    init(_ paths: [String]) {
        versions = Dictionary(paths.map { ($0, Version($0)) }, uniquingKeysWith: { $1 })
    }

    /// These, and others as they are now.
    func adding(_ paths: [String]) -> FileVersions {
        var all = self
        all.versions.merge(FileVersions(paths).versions) { old, _ in old }
        return all
    }

    /// Whether none of them has changed.
    var areCurrent: Bool { versions.allSatisfy { Version($0.key) == $0.value } }
}
