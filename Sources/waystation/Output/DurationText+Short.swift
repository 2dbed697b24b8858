import RelayBase

extension DurationText {
    /// A span for people: `0.4ms`, `12ms`, `1.25s`, `41m`, `3d 4h`.
    static func short(milliseconds: Double) -> String {
        let bounded = min(max(0, milliseconds), 1e13)
        if bounded < 10 { return decimals(bounded, 1) + "ms" }
        if bounded < 1000 { return decimals(bounded, 0) + "ms" }
        if bounded < 60_000 { return decimals(bounded / 1000, 2) + "s" }
        let seconds = Int64(bounded / 1000)
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60)
        if days > 0 { return "\(days)d \(hours)h" }
        if hours > 0 { return "\(hours)h \(minutes)m" }
        return "\(minutes)m \(seconds % 60)s"
    }

    /// A number with so many decimals, rounded.
    static func decimals(_ value: Double, _ count: Int) -> String {
        let scale = (0..<count).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int64((value * Double(scale)).rounded())
        guard count > 0 else { return String(scaled) }
        let fraction = String(scaled % Int64(scale))
        return "\(scaled / Int64(scale))."
            + String(repeating: "0", count: count - fraction.count) + fraction
    }
}
