import Glibc

/// The names of the machine.
package enum HostNames {
    /// The host's name.
    package static var own: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// machine-id(5); nil where the machine has none.
    package static var machineID: String? {
        guard let file = try? FileContents("/etc/machine-id", limit: 64) else { return nil }
        let text = file.bytes.prefix { $0 != UInt8(ascii: "\n") }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }
}
