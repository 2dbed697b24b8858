import Glibc

/// The folder of the programs that were built with the tests: that of the program that runs them.
package let programsFolder: String = {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe buffer.withUnsafeMutableBytes { buffer in
        guard let base = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return 0 }
        return unsafe readlink("/proc/self/exe", base, buffer.count)
    }
    let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
}()
