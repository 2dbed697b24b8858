import Glibc
import RelayBase
import RelayJobs
import RelayPosix
import RelayStore
import RelayTestSupport
import Testing

@Suite("Copies of request bodies", .timeLimit(.minutes(5)))
struct ReplaySpoolTests {
    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    @Test("Added bytes are read back from any place, while more are added", arguments: [nil, 300_000])
    func roundTrip(length: UInt64?) async throws {
        let scratch = TemporaryFolder()
        let spool = try FileReplaySpool(state: scratch.path, limit: 1 << 20)
        let copy = try spool.copy(length: length)
        let content = bytes(300_000)
        try await copy.append(Array(content[..<65_536]))
        #expect(try await copy.read(at: 1_000, count: 64_000) == Array(content[1_000..<65_000]))
        try await copy.append(Array(content[65_536...]))
        #expect(try await copy.read(at: 0, count: 300_000) == content)
        #expect(spool.usage.used == 300_000)
    }

    @Test("A file has no name, and its room comes back with the last reference")
    func unlinked() async throws {
        let scratch = TemporaryFolder()
        let spool = try FileReplaySpool(state: scratch.path, limit: 1_000)
        var copy: (any ReplayCopy)? = try spool.copy(length: nil)
        try await copy?.append(bytes(900))
        #expect(TemporaryFolder.names(scratch.path + "/spool") == [])
        #expect(spool.usage.used == 900)
        copy = nil
        // The spool's thread may hold it a moment longer than whoever waited for it: until it does something else.
        let other = try spool.copy(length: nil)
        try await other.append([1])
        #expect(spool.usage.used == 1)
    }

    @Test("Bytes that do not fit are refused: a length beyond the limit at once, others when it is reached")
    func full() async throws {
        let scratch = TemporaryFolder()
        let spool = try FileReplaySpool(state: scratch.path, limit: 1_000)
        #expect(throws: StoreError.self) { try spool.copy(length: 1_001) }
        let copy = try spool.copy(length: nil)
        try await copy.append(bytes(1_000))
        await #expect(throws: StoreError.self) { try await copy.append([1]) }
        spool.configure(limit: 2_000)
        try await copy.append(bytes(600))
        #expect(spool.usage.used == 1_600)
    }

    @Test("Announced bytes take no room from others before they arrive")
    func announced() async throws {
        let scratch = TemporaryFolder()
        let spool = try FileReplaySpool(state: scratch.path, limit: 1_000)
        let held = try (0..<5).map { _ in try spool.copy(length: 1_000) }
        let other = try spool.copy(length: 900)
        try await other.append(bytes(900))
        #expect(spool.usage.used == 900)
        withExtendedLifetime(held) {}
    }

    @Test("A copy takes none of the descriptors that are set aside")
    func descriptors() async throws {
        let scratch = TemporaryFolder()
        let reserve = DescriptorReserve()
        let spool = try FileReplaySpool(state: scratch.path, limit: 1_000, reserve: reserve)
        let first = try spool.copy(length: nil)
        try await first.append([1])
        reserve.setAside(of: 0)
        let second = try spool.copy(length: nil)
        await #expect {
            try await second.append([2])
        } throws: { ($0 as? StoreError)?.code == .full }
        #expect(try await first.read(at: 0, count: 1) == [1])
    }

    @Test("Files that a crash left are removed at the start, and no others")
    func swept() throws {
        let scratch = TemporaryFolder()
        _ = unsafe mkdir(scratch.path + "/spool", 0o700)
        for name in ["s12", "notes", "s1x"] {
            close(unsafe open("\(scratch.path)/spool/\(name)", O_CREAT | O_WRONLY, 0o600))
        }
        _ = try FileReplaySpool(state: scratch.path, limit: 1)
        #expect(TemporaryFolder.names(scratch.path + "/spool") == ["notes", "s1x"])
    }

    @Test("A disk that is nearly full is left to the job store", .enabled(if: geteuid() == 0))
    func nearlyFull() async throws {
        let scratch = TemporaryFolder()
        guard unsafe mount("tmpfs", scratch.path, "tmpfs", 0, "size=8m,mode=0700") == 0 else { return }
        defer { unsafe _ = umount2(scratch.path, 2) }
        let spool = try FileReplaySpool(state: scratch.path, limit: 1 << 30)
        let copy = try spool.copy(length: 8 << 20)
        for _ in 0..<6 { try await copy.append(bytes(1 << 20)) }
        await #expect {
            for _ in 0..<2 { try await copy.append(bytes(1 << 20)) }
        } throws: { ($0 as? StoreError)?.code == .full }
        #expect(try await copy.read(at: 0, count: 1 << 20) == bytes(1 << 20))
    }
}
