import RelayTesting

extension SplitMix64 {
    /// Uniform in `0 ..< bound`, by the high half of a product.
    package mutating func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    package mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.upperBound - range.lowerBound + 1)
    }

    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Nanoseconds in a range of milliseconds; half of them on a round number, so that events meet.
    package mutating func time(_ milliseconds: ClosedRange<Int>) -> Int64 {
        let drawn = number(milliseconds)
        if chance(50) { return Int64(drawn) * 1_000_000 + Int64(below(1_000_000)) }
        let step = milliseconds.upperBound >= 200 ? 50 : 5
        return Int64(max(drawn / step * step, milliseconds.lowerBound)) * 1_000_000
    }

    /// An index drawn by its weight.
    package mutating func weighted(_ weights: [Int]) -> Int {
        var rest = below(weights.reduce(0, +))
        for (index, weight) in weights.enumerated() {
            if rest < weight { return index }
            rest -= weight
        }
        return weights.count - 1
    }
}
