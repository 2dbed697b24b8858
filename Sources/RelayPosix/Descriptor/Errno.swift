import CLinux
import Glibc

/// A code of errno(3).
package struct Errno: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// The code that the calling thread's last failed call left.
    package static var current: Errno { Errno(rawValue: errno) }

    /// The symbol: `ECONNREFUSED`.
    package var name: String {
        guard let name = unsafe strerrorname_np(rawValue) else { return "errno \(rawValue)" }
        return unsafe String(cString: name)
    }

    /// The meaning in English, with the symbol.
    package var description: String {
        guard let text = unsafe strerrordesc_np(rawValue) else { return name }
        return unsafe "\(String(cString: text)) (\(name))"
    }

    /// Whether the process or the machine has run out of descriptors or memory: waiting may help.
    package var isExhaustion: Bool {
        rawValue == EMFILE || rawValue == ENFILE || rawValue == ENOBUFS || rawValue == ENOMEM
    }
}
