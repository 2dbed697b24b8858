package import RelayBase
package import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

/// A request that its upstream answered at the first attempt, as plain values.
package struct PassThroughRecord {
    package var id: JobID
    package var route: PassThroughRoute
    package var client: ClientIdentity?
    /// The upstream's address, with port.
    package var address: String
    /// When it began, in milliseconds since 1970 UTC.
    package var wall: Int64
    /// Nanoseconds from there to the answer, and from the sending to it.
    package var duration: Int64
    package var firstByte: Int64
    /// Milliseconds since 1970 UTC.
    package var finishedAt: Int64
    package var status: UInt16
    package var wasReused: Bool
    /// As an index of `PassThroughRecords.methods`.
    package var method: UInt8

    package init(
        id: JobID,
        route: PassThroughRoute,
        client: ClientIdentity?,
        address: String,
        wall: Int64,
        duration: Int64,
        firstByte: Int64,
        finishedAt: Int64,
        status: UInt16,
        wasReused: Bool,
        method: UInt8
    ) {
        self.id = id
        self.route = route
        self.client = client
        self.address = address
        self.wall = wall
        self.duration = duration
        self.firstByte = firstByte
        self.finishedAt = finishedAt
        self.status = status
        self.wasReused = wasReused
        self.method = method
    }

    /// The account that the ordinary path would have given of it.
    package func report(target: String) -> JobReport {
        let context = JobContext(
            id: id,
            route: route.entry.route,
            method: PassThroughRecords.methods[Int(method)],
            target: target,
            options: JobOptions(),
            client: client,
            memory: route.entry.memory
        )
        var attempt = Attempt(
            number: 1,
            upstream: route.plain.upstream.name,
            beganAt: wall,
            duration: .nanoseconds(duration)
        )
        attempt.answered(status, address, wasReused: wasReused, firstByte: firstByte)
        let response = HTTPResponse(status: Status(rawValue: status), fields: HeaderFields())
        return JobReport(context, .succeeded, response, attempts: [attempt])
    }
}

/// The last requests that were passed through; a document about one is made when somebody asks for it.
package final class PassThroughRecords: Sendable {
    package static let methods: [Method] = [.get, .put, .post, .patch, .delete]

    /// A record with its target: most are short enough to stand beside it.
    private struct Entry {
        var record: PassThroughRecord
        var count = 0
        var short = InlineArray<64, UInt8>(repeating: 0)
        var long: [UInt8] = []

        init(_ record: PassThroughRecord) { self.record = record }

        @inline(__always)
        mutating func set(_ target: UnsafeBufferPointer<UInt8>) {
            count = target.count
            if !long.isEmpty { long = [] }
            guard count <= short.count else {
                long = unsafe Array(target)
                return
            }
            unsafe withUnsafeMutableBytes(of: &short) { unsafe $0.copyBytes(from: target) }
        }

        var target: String {
            let bytes = count > short.count ? long : (0..<count).map { short[$0] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private struct Ring {
        var entries: [Entry] = []
        var next = 0
    }

    private let capacity: Int
    private let ring = Mutex(Ring())

    package init(capacity: Int) {
        self.capacity = capacity
        ring.withLock { $0.entries.reserveCapacity(capacity) }
    }

    /// Keeps the record, and gives back the one that makes room for it.
    package func add(_ record: inout PassThroughRecord, _ target: UnsafeBufferPointer<UInt8>) {
        ring.withLock { ring in
            if ring.entries.count < capacity {
                ring.entries.append(Entry(record))
            } else {
                // Neither is copied.
                swap(&ring.entries[ring.next].record, &record)
            }
            unsafe ring.entries[ring.next].set(target)
            ring.next = ring.next + 1 == capacity ? 0 : ring.next + 1
        }
    }

    package func find(_ id: JobID) -> (report: JobReport, finishedAt: Int64)? {
        ring.withLock { ring in
            guard let place = ring.entries.first(where: { $0.record.id == id }) else { return nil }
            return (place.record.report(target: place.target), place.record.finishedAt)
        }
    }
}

extension Attempt {
    /// It was passed through and answered: `address` is empty where none was dialled, `firstByte` in nanoseconds.
    mutating func answered(_ status: UInt16, _ address: String, wasReused: Bool, firstByte: Int64) {
        self.status = Status(rawValue: status)
        var exchange = Exchange(address: address.isEmpty ? nil : address, wasReused: wasReused)
        exchange.firstByte = .nanoseconds(firstByte)
        self.exchange = exchange
    }
}
