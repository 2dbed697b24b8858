import Glibc
import RelayPosix
import RelaySystemd
import Synchronization
import Testing

@Suite("A journal that is not there, comes and stands still", .timeLimit(.minutes(5)))
struct AbsentJournalTests {
    /// A journal's socket in a folder of its own.
    private final class StandIn {
        let path = "/tmp/waystation-journal-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        private var descriptor: Int32 = -1

        func listen() throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            let isBound = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            try #require(isBound)
        }

        /// The next record; nil when none came in time.
        func next(milliseconds: Int32 = 30_000) -> String? {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, milliseconds) > 0 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        }

        func leave() {
            close(descriptor)
            unsafe _ = unlink(path)
        }

        deinit { leave() }
    }

    private func journal(_ standIn: StandIn, capacity: Int = 1024) -> Journal {
        let socket = JournalSocket(standIn.path)
        return Journal(capacity: capacity) { socket.send(journalDatagram($0, program: "test")) }
    }

    @Test(
        "Records that nobody took are counted, and told of without another record when the journal has come"
    )
    func absent() throws {
        let standIn = StandIn()
        let journal = journal(standIn)
        for number in 1...3 { journal.record(JournalRecord(.info, nil, "early \(number)")) }
        #expect(journal.flush(milliseconds: 30_000))
        #expect(journal.lost == 3)
        try standIn.listen()
        let loss = try #require(standIn.next())
        #expect(loss.contains("MESSAGE=3 records were lost because no journal took them\n"))
        #expect(
            loss.contains("\nCOUNT=3\n") && loss.contains("MESSAGE_ID=\(MessageID.recordsDropped.text)\n")
        )
        journal.record(JournalRecord(.info, nil, "later"))
        #expect(standIn.next()?.hasPrefix("MESSAGE=later\n") == true)
        #expect(journal.lost == 3)
        // It goes, and comes back at the same place.
        standIn.leave()
        journal.record(JournalRecord(.info, nil, "gone"))
        #expect(journal.flush(milliseconds: 30_000))
        try standIn.listen()
        #expect(standIn.next()?.contains("MESSAGE=1 record was lost because no journal") == true)
    }

    @Test("One that stands still blocks nobody, and each record is read in the end or counted")
    func standsStill() throws {
        let standIn = StandIn()
        try standIn.listen()
        let journal = journal(standIn, capacity: 10)
        var count = 0
        func record(_ more: Int) {
            for number in count + 1...count + more {
                journal.record(JournalRecord(.info, nil, "record \(number)"))
            }
            count += more
        }
        // Until its socket takes no more.
        repeat { record(10) } while journal.flush(milliseconds: 1_000)
        record(1_000)
        #expect(journal.lost >= 900)
        var (read, told) = (0, 0)
        while read + told < count {
            let record = try #require(standIn.next())
            if let field = record.split(separator: "\n").first(where: { $0.hasPrefix("COUNT=") }) {
                told += try #require(Int(field.dropFirst(6)))
            } else {
                read += 1
            }
        }
        #expect(read + told == count && told == journal.lost)
        #expect(journal.flush(milliseconds: 30_000))
    }
}
