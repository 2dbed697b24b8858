/// An answer whose head may be passed on as it is, with as much of its content as has come.
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
    /// The part of its content that has come, in its framing.
    package var body: Range<Int>
    package var isChunked: Bool
    /// Bytes of the content; of one in chunks, of what has come of it.
    package var length: Int
    /// Whether all of it has come.
    package var isWhole: Bool
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
        isChunked: Bool,
        length: Int,
        hasContent: Bool,
        hasDate: Bool
    ) {
        unsafe self.base = base
        self.status = status
        self.runs = runs
        self.type = type
        self.isCoded = isCoded
        self.body = body
        self.isChunked = isChunked
        self.length = length
        isWhole = !isChunked && length == body.count
        self.hasContent = hasContent
        self.hasDate = hasDate
    }
}
