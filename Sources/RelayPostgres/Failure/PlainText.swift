/// The first line of a text that a server or a library wrote: printable, and short enough for a sentence.
@unsafe func plainText(_ text: UnsafePointer<CChar>?, most: Int = 400) -> String {
    guard let text = unsafe text else { return "" }
    var bytes: [UInt8] = []
    while bytes.count < most, case let byte = unsafe UInt8(bitPattern: text[bytes.count]), byte != 0 {
        if byte == UInt8(ascii: "\n") { break }
        bytes.append(byte < 0x20 || byte == 0x7F ? UInt8(ascii: " ") : byte)
    }
    while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
}
