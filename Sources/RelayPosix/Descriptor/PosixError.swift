/// A system call that failed.
package struct PosixError: Error, Hashable, Sendable, CustomStringConvertible {
    package let call: String
    package let errno: Errno
    package let path: String?

    package init(_ call: String, _ errno: Errno, path: String? = nil) {
        self.call = call
        self.errno = errno
        self.path = path
    }

    package var description: String {
        if let path { return "\(call) \(path): \(errno)" }
        return "\(call): \(errno)"
    }

    /// Returns `result`, or throws what the call left in errno when it is negative.
    @discardableResult
    static func check(_ call: String, _ result: Int32, path: String? = nil) throws(PosixError) -> Int32 {
        guard result < 0 else { return result }
        throw PosixError(call, .current, path: path)
    }
}
