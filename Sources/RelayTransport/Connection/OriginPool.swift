import RelayBase
import RelayHTTP
import RelayPosix
import RelayRoute

/// The connections to one origin that wait for their next request, confined to their loop.
final class OriginPool {
    /// Connections to different places, or made under different rules, are never exchanged.
    struct Key: Hashable {
        let origin: Origin
        let tls: TLSSettings
        let allowedAddresses: [AddressRange]
        let isConfined: Bool

        init(_ upstream: Upstream) {
            origin = upstream.origin
            tls = upstream.tls
            allowedAddresses = upstream.allowedAddresses
            isConfined = upstream.isConfined
        }
    }

    /// Connections kept idle; the one longest idle makes room.
    static let capacity = 64
    /// How long a connection may be idle, in nanoseconds.
    static let idleAge: Int64 = 60_000_000_000

    let key: Key
    /// `Host: example.com` with its line end.
    let hostLine: [UInt8]
    /// The buffer that requests are composed in; the loop's.
    let output: OutputLoan
    /// Taken from the first connection that was offered one; a later connection begins with it.
    var ticket: TLSTicket?
    /// A resumed session verifies no chain, so where keys are pinned every handshake is a full one.
    var keepsTickets: Bool { key.tls.pins == nil }
    /// Latest last: the one most likely to be alive is taken first.
    @safe @exclusivity(unchecked) private var idle: [Connection] = []
    @safe @exclusivity(unchecked) var lastUsed: Int64 = 0
    /// Whether content was ever read by pieces that are kept, for which the fewer there are the better.
    @safe @exclusivity(unchecked) var collectsAnswers = false
    /// Whether nobody takes from the pool any more; a connection in flight still belongs to it.
    private(set) var isClosed = false

    private let account: MemoryAccount?

    init(_ upstream: Upstream, _ output: OutputLoan, _ account: MemoryAccount? = nil) {
        self.output = output
        self.account = account
        key = Key(upstream)
        hostLine = output.compose { line in
            HeadWriter.appendField("Host", upstream.origin.hostField, to: &line)
            return line.bytes
        }
    }

    /// Counts so many bytes that a connection keeps already, until what is given goes.
    func reservation(for bytes: Int) -> MemoryReservation? {
        bytes > MemoryAccount.free ? account?.reserveUnchecked(bytes) : nil
    }

    var isEmpty: Bool { idle.isEmpty }

    /// The youngest idle connection that still looks alive.
    func take(now: Int64) -> Connection? {
        lastUsed = now
        while let connection = idle.popLast() {
            if connection.isAlive(now: now) { return connection }
            connection.close()
        }
        return nil
    }

    /// Keeps a connection for the next request; closes it where none will come.
    func keep(_ connection: Connection) {
        guard !isClosed else { return connection.close() }
        if idle.count >= Self.capacity { idle.removeFirst().close() }
        idle.append(connection)
    }

    /// Forgets an idle connection that has closed.
    func forget(_ connection: Connection) {
        // The latest are the likeliest to be busy, the oldest to be closed by their peer.
        if let index = idle.firstIndex(where: { $0 === connection }) { idle.remove(at: index) }
    }

    /// Closes what has been idle since before `moment`.
    func sweep(before moment: Int64) {
        let count = idle.prefix { $0.lastProgress <= moment }.count
        guard count > 0 else { return }
        let old = idle[..<count]
        idle.removeFirst(count)
        for connection in old { connection.close() }
    }

    /// Closes what is idle now, and from now on what is given back.
    func close() {
        isClosed = true
        ticket = nil
        sweep(before: .max)
    }
}
