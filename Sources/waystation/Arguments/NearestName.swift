/// The name that was probably meant: the one with the fewest changes, two or a third of its letters; nil when
/// none is near.
func nearestName(to text: String, in names: [String]) -> String? {
    let near = names.map { (name: $0, distance: changes(Array(text.utf8.prefix(64)), Array($0.utf8))) }
        .min { $0.distance < $1.distance }
    guard let near, near.distance <= max(2, near.name.utf8.count / 3) else { return nil }
    return near.name
}

/// Insertions, deletions and replacements that lead from one word to the other (Levenshtein).
private func changes(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var row = Array(0...b.count)
    for (i, x) in a.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, y) in b.enumerated() {
            let replaced = diagonal + (x == y ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
        }
    }
    return row[b.count]
}
