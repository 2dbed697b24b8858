import Glibc

/// The user namespace of this process, as far as it decides whom SO_PEERCRED names.
package enum UserNamespace {
    /// Whether users of this machine all look alike to this process: their ids have no place in its namespace, so
    /// that the kernel names each of them by the overflow id 65534.
    package static var hidesCallers: Bool {
        guard let text = read("/proc/self/uid_map") else { return false }
        return hidesCallers(map: text)
    }

    /// The same of the text of uid_map (user_namespaces(7)): lines of the first id inside, the first outside, and
    /// how many.
    ///
    /// The ids of users and of services reach to 65535; a namespace with fewer, such as the two or three of
    /// PrivateUsers=yes, leaves callers out.
    package static func hidesCallers(map text: String) -> Bool {
        var count: UInt64 = 0
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let length = UInt64(words[2]) else { return false }
            count += length
        }
        return count > 0 && count < 65_536
    }

    private static func read(_ path: String) -> String? {
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let descriptor = FileDescriptor(raw)
        // The kernel allows 340 lines; a page of them is more than anybody has.
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe Glibc.read(descriptor.raw, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
