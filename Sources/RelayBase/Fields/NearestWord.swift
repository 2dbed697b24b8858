/// The word an operator most likely meant; nil when none is near.
///
/// Distance is that of Damerau and Levenshtein with adjacent transpositions; hyphens count as underscores.
package func nearestWord(to word: String, among words: [String]) -> String? {
    let length = word.unicodeScalars.count
    // One changed letter of two is another word.
    let limit = length < 3 ? 0 : max(1, length / 3)
    // Longer words are nobody's slip, and the comparison is quadratic.
    guard length <= 64 else { return nil }
    let folded = fold(word)
    var best: (distance: Int, word: String)?
    for candidate in words {
        let distance = editDistance(folded, fold(candidate))
        if distance <= limit, distance < best?.distance ?? .max { best = (distance, candidate) }
    }
    return best?.word
}

private func fold(_ word: String) -> [Unicode.Scalar] {
    word.lowercased().unicodeScalars.map { $0 == "-" ? "_" : $0 }
}

private func editDistance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...other.count)
    for (row, scalar) in one.enumerated() {
        var current = [row + 1]
        for (column, candidate) in other.enumerated() {
            var distance = min(
                last[column + 1] + 1,
                current[column] + 1,
                last[column] + (scalar == candidate ? 0 : 1)
            )
            if row > 0, column > 0, scalar == other[column - 1], one[row - 1] == candidate {
                distance = min(distance, beforeLast[column - 1] + 1)
            }
            current.append(distance)
        }
        beforeLast = last
        last = current
    }
    return last[other.count]
}
