import Glibc
package import RelayPosix
import Synchronization

/// A link as a file that a browser opens and follows, since everybody of the machine can read the words of a command.
///
/// It is there until a browser has come in by a link, the link is too old, or the command ends.
package final class LinkFile: Sendable {
    private let path = Mutex<String?>(nil)

    package init() {}

    package func open(_ link: String) throws(PosixError) {
        do throws(PosixError) {
            let written = try LinkFile.write(LinkFile.document(link))
            path.withLock { $0 = written }
            try startDetachedThread("link") { [self] in
                _ = poll(nil, 0, Int32(PageGate.linkLifetime.components.seconds) * 1_000)
                remove()
            }
            LinkFile.openBrowser(written)
        } catch {
            remove()
            throw error
        }
    }

    package func remove() {
        guard let path = path.withLock({ $0.take() }) else { return }
        unsafe _ = unlink(path)
    }

    private static func document(_ link: String) -> String {
        """
        <!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">
        <meta http-equiv="refresh" content="0; url=\(link)"><title>Waystation</title>

        """
    }

    /// For nobody else to read (0600, mkstemps(3)), where what a user runs keeps its files.
    private static func write(_ text: String) throws(PosixError) -> String {
        let directory = environment("XDG_RUNTIME_DIR") ?? environment("TMPDIR") ?? "/tmp"
        var path = Array((directory + "/waystation-ui-XXXXXX.html").utf8CString)
        let raw = unsafe mkstemps(&path, 5)
        guard raw >= 0 else { throw PosixError("create a file in", .current, path: directory) }
        let file = FileDescriptor(raw)
        let name = String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard writeAll(Array(text.utf8), to: file.raw) else {
            let reason = Errno.current
            unsafe _ = unlink(name)
            throw PosixError("write", reason, path: name)
        }
        return name
    }

    private static func openBrowser(_ path: String) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in 0...2 {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        // A group of its own, so that Ctrl-C ends the command and not the browser.
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        let words = CStrings(["xdg-open", path])
        var process: pid_t = 0
        // A user without such a program has the link.
        _ = unsafe posix_spawnp(&process, "xdg-open", &actions, &attributes, words.pointers, environ)
    }
}

/// Where there is a display, and not as root, whose browser nobody wants.
package var hasBrowser: Bool {
    let hasDisplay = environment("DISPLAY") != nil || environment("WAYLAND_DISPLAY") != nil
    return hasDisplay && geteuid() != 0
}
