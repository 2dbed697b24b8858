import Testing

@testable import RelayEngine

@Suite("The rows of a table that have changed")
struct RowMemoryTests {
    private let memory = RowMemory(1_000)
    private let names = ["a", "b", "c"]

    /// The rows that are told of these digests.
    private func told(_ digests: [Int], in look: RowMemory.Look) -> [Int] {
        digests.indices.filter { memory.tells($0, digests[$0], in: look) }
    }

    private func look(since: Int? = nil) -> RowMemory.Look { memory.look(at: names, since: since) }

    @Test("All are told to whoever names no look, one of before or one to come")
    func whole() {
        for since in [nil, 0, 1_000, 1_000_000, 1_000_000_000] {
            let look = look(since: since)
            #expect(look.isWhole)
            #expect(told([1, 2, 3], in: look) == [0, 1, 2])
        }
    }

    @Test("Rows that have changed since a look are told, and no others")
    func changed() {
        let first = look()
        #expect(told([1, 2, 3], in: first) == [0, 1, 2])
        let second = look(since: first.number)
        #expect(!second.isWhole)
        #expect(told([1, 2, 3], in: second).isEmpty)
        let third = look(since: second.number)
        #expect(told([1, 5, 3], in: third) == [1])
        let later = look(since: look(since: third.number).number)
        #expect(told([1, 5, 3], in: later).isEmpty)
        // An asker who has seen nothing since the first hears of it too.
        #expect(told([1, 5, 3], in: look(since: first.number)) == [1])
    }

    @Test("A change that another look notices meanwhile is missed by nobody")
    func together() {
        let first = look()
        #expect(told([1, 2, 3], in: first) == [0, 1, 2])
        // The other one begins later and has passed the row before it changes.
        let (slow, quick) = (look(since: first.number), look(since: first.number))
        #expect(told([1, 2, 3], in: quick).isEmpty)
        #expect(told([9, 2, 3], in: slow) == [0])
        #expect(told([9, 2, 3], in: look(since: quick.number)) == [0])
    }

    @Test("Other names make another table, of which a look that has begun records nothing")
    func others() {
        let old = look()
        _ = told([1, 2, 3], in: old)
        let new = memory.look(at: ["a", "b"], since: old.number)
        #expect(new.isWhole)
        #expect(told([1, 2], in: new) == [0, 1])
        #expect(memory.tells(2, 3, in: old))
        #expect(memory.look(at: ["a", "b"], since: new.number).isWhole == false)
    }
}
