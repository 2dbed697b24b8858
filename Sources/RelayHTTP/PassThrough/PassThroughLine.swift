/// The request line of a plain request to a route.
@safe package struct PassThroughLine {
    package var methodCount: Int
    /// The route's name.
    package var route: Range<Int>
    /// Path and query below the route.
    package var remainder: Range<Int>
    /// Where the fields begin.
    package var fields: Int

    @inline(__always)
    package init?(_ base: UnsafePointer<UInt8>, _ end: Int) {
        guard end > 40 else { return nil }
        let kinds = byteKinds
        // GET, PUT, POST, PATCH, DELETE
        let first = unsafe UnsafeRawPointer(base).loadUnaligned(as: UInt32.self)
        var index: Int
        switch first {
        case 0x5453_4F50: index = 4  // POST
        case 0x2054_4547, 0x2054_5550: index = 3  // GET, PUT
        case 0x4354_4150:
            index = 5  // PATC
            guard unsafe base[4] == UInt8(ascii: "H") else { return nil }
        case 0x454C_4544:
            index = 6  // DELE
            guard unsafe base[4] == UInt8(ascii: "T"), unsafe base[5] == UInt8(ascii: "E") else { return nil }
        default: return nil
        }
        methodCount = index
        guard unsafe base[index] == space, unsafe base[index &+ 1] == slash,
            unsafe base[index &+ 2] == UInt8(ascii: "r"), unsafe base[index &+ 3] == slash
        else { return nil }
        index &+= 4
        let name = index
        while index < end, unsafe kinds[Int(base[index])] & ByteKind.routeName != 0 { index &+= 1 }
        guard index < end, index > name, index &- name <= 128, unsafe base[name] != UInt8(ascii: ".") else {
            return nil
        }
        route = name..<index
        var byte = unsafe base[index]
        if byte == slash {
            index &+= 1
            let start = index
            // Words between slashes; dots only inside of words.
            var last = slash
            while index < end {
                byte = unsafe base[index]
                if unsafe kinds[Int(byte)] & ByteKind.path == 0 {
                    guard byte == slash || byte == UInt8(ascii: ".") else {
                        break
                    }
                    guard last != slash, last != UInt8(ascii: ".") else { return nil }
                }
                last = byte
                index &+= 1
            }
            guard last != UInt8(ascii: ".") else { return nil }
            remainder = start..<index
        } else {
            remainder = index..<index
        }
        guard index < end else { return nil }
        if byte == questionMark {
            index &+= 1
            while index < end, unsafe kinds[Int(base[index])] & ByteKind.query != 0 { index &+= 1 }
            remainder = remainder.lowerBound..<index
        }
        guard index &+ 11 < end, index < 8_192, unsafe base[index] == space,
            unsafe loadEightBytes(base, index &+ 1) == version11,
            unsafe base[index &+ 9] == carriageReturn, unsafe base[index &+ 10] == lineFeed
        else { return nil }
        fields = index &+ 11
    }

    /// Whether the caller's target has a query.
    package func hasQuery(_ base: UnsafePointer<UInt8>) -> Bool {
        for index in remainder where unsafe base[index] == questionMark { return true }
        return false
    }
}
