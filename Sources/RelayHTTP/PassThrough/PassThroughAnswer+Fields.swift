package import RelayBase

extension PassThroughAnswer {
    /// Visits the fields that belong to the message, in order, each with its name and its value as places from `base`.
    ///
    /// `Connection` belongs to the connection; an answer that has any other field of that kind is not plain.
    @inline(__always)
    package func forEachField(_ visit: (_ name: Range<Int>, _ value: Range<Int>) -> Void) {
        var index = runs.0.lowerBound
        let end = body.lowerBound &- 2
        while index < end {
            var nameEnd = index
            while unsafe base[nameEnd] != colon { nameEnd &+= 1 }
            let value = nameEnd &+ 2
            let valueEnd = unsafe firstControl(base, value, end)
            let isOfMessage = unsafe nameEnd &- index != 10 || !stands("connection", base, index)
            if isOfMessage { visit(index..<nameEnd, value..<valueEnd) }
            index = valueEnd &+ 2
        }
    }
}
