/// A promise that was broken.
struct Violation {
    let job: Int
    let at: Int64
    let sentence: String
    let timeline: [String]
}
