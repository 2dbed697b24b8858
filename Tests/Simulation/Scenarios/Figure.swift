/// A figure of a scenario: what it came to, what it has to reach, and by how much a control has to miss it.
struct Figure {
    let name: String
    /// Nil where it never came to be.
    let value: Double?
    let bound: Double
    let isLeast: Bool
    /// Nil where a control need not miss it.
    let control: Double?
    private var plays: [Double?] = []

    init(_ name: String, _ value: Double?, atMost bound: Double, control: Double? = nil) {
        (self.name, self.value, self.bound, isLeast, self.control) = (name, value, bound, false, control)
    }

    init(_ name: String, _ value: Double?, atLeast bound: Double, control: Double? = nil) {
        (self.name, self.value, self.bound, isLeast, self.control) = (name, value, bound, true, control)
    }

    init(_ name: String, _ count: Int, per whole: Int = 1, atMost bound: Double, control: Double? = nil) {
        self.init(name, Double(count) / Double(whole), atMost: bound, control: control)
    }

    init(_ name: String, _ count: Int, per whole: Int = 1, atLeast bound: Double, control: Double? = nil) {
        self.init(name, Double(count) / Double(whole), atLeast: bound, control: control)
    }

    /// The middle of what several plays came to.
    init(middle figures: [Figure]) {
        let first = figures[0]
        func isBetter(_ left: Figure, _ right: Figure) -> Bool {
            guard let one = left.value, let other = right.value else { return left.value != nil }
            return first.isLeast ? one > other : one < other
        }
        let sorted = figures.sorted(by: isBetter).map(\.value)
        (name, value, bound, isLeast, control) = (
            first.name, sorted[sorted.count / 2], first.bound, first.isLeast, first.control
        )
        if Set(sorted).count > 1 { plays = sorted }
    }

    init(_ name: String, isSo: Bool) { self.init(name, isSo ? 1 : 0, atLeast: 1) }

    /// Whether it is as it has to be; nil where nothing is asked of it.
    func isRight(inControl: Bool) -> Bool? {
        if inControl, control == nil { return nil }
        guard let value else { return inControl }
        let limit = inControl ? control ?? bound : bound
        return inControl == isLeast ? value <= limit : value >= limit
    }

    /// In words: `attempts per arrival: 1.04 (at most 1.1)`.
    func text(inControl: Bool) -> String {
        let isUpper = inControl == isLeast
        let limit = Figure.text(inControl ? control ?? bound : bound)
        let told = value.map(Figure.text) ?? "never"
        let all = plays.map { $0.map(Figure.text) ?? "never" }.joined(separator: " ")
        return
            "\(name): \(told) (\(isUpper ? "at most" : "at least") \(limit)\(all.isEmpty ? "" : "; in all: \(all)"))"
    }

    private static func text(_ value: Double) -> String {
        let thousandths = (value * 1_000).rounded() / 1_000
        return thousandths.isFinite && thousandths == thousandths.rounded()
            ? "\(Int(thousandths))" : "\(thousandths)"
    }
}
