/// Numbers the lines of a stream, bounds how many are without an outcome, and says when an outcome goes out.
///
/// In the order of the input an outcome waits for those before it and keeps its place meanwhile, so that what is held
/// back is bounded too.
package struct OutcomeOrderMachine: Sendable {
    package enum Order: String, CaseIterable, Sendable {
        case completion
        case input
    }

    private let order: Order
    private let limit: Int
    /// Lines begun whose outcome has not gone out.
    private var unreported = 0
    /// Lines begun that have not ended.
    private var running = 0
    /// The line whose outcome goes out next, in the order of the input.
    private var next = 1
    private var held: [Int: [UInt8]] = [:]

    /// The number of the last line that began, counted from 1; 0 before the first.
    package private(set) var lastLine = 0

    package init(_ order: Order, limit: Int) {
        self.order = order
        self.limit = limit
    }

    /// Whether another line may begin.
    package var hasRoom: Bool { unreported < limit }

    /// Whether every line has ended.
    package var isIdle: Bool { running == 0 }

    /// A line was read; there was room for it.
    ///
    /// - Returns: its number.
    package mutating func began() -> Int {
        precondition(hasRoom, "line \(lastLine + 1) began without room")
        lastLine += 1
        unreported += 1
        running += 1
        return lastLine
    }

    /// The line ended with `outcome`.
    ///
    /// - Returns: the outcomes that go out now, in this order.
    package mutating func ended(_ line: Int, _ outcome: [UInt8]) -> [[UInt8]] {
        running -= 1
        guard order == .input else {
            unreported -= 1
            return [outcome]
        }
        held[line] = outcome
        var ready: [[UInt8]] = []
        while let outcome = held.removeValue(forKey: next) {
            ready.append(outcome)
            next += 1
        }
        unreported -= ready.count
        return ready
    }
}
