/// An answer that is there as a whole, in the loop's buffer, and that may be passed on as it is.
///
/// Its places are offsets from `base`; they hold for the call that hands it over.
@safe package struct PassThroughAnswer {
    package var base: UnsafePointer<UInt8>
    package var status: Int
    /// Runs of field lines that are passed on.
    package var runs: (Range<Int>, Range<Int>, Range<Int>)
    /// The value of `Content-Type`; empty where there is none.
    package var type: Range<Int>
    /// Whether it has a `Content-Encoding`.
    package var isCoded: Bool
    package var body: Range<Int>
    package var hasContent: Bool
    package var hasDate: Bool
    /// Nanoseconds from the request to the answer.
    package var firstByte: Int64 = 0
    package var wasReused = true

    package init(
        base: UnsafePointer<UInt8>,
        status: Int,
        runs: (Range<Int>, Range<Int>, Range<Int>),
        type: Range<Int>,
        isCoded: Bool,
        body: Range<Int>,
        hasContent: Bool,
        hasDate: Bool
    ) {
        unsafe self.base = base
        self.status = status
        self.runs = runs
        self.type = type
        self.isCoded = isCoded
        self.body = body
        self.hasContent = hasContent
        self.hasDate = hasDate
    }
}
