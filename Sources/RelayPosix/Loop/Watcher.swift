internal import CLinux

/// The events that epoll reported about a descriptor.
public struct Events: OptionSet, Sendable {
    /// The bits of epoll_ctl(2).
    public let rawValue: UInt32

    /// Takes the bits of epoll_ctl(2).
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// There is something to read, or the end of it.
    public static let readable = Events(rawValue: EPOLLIN.rawValue)
    /// The kernel has something to report that is not data.
    package static let urgent = Events(rawValue: EPOLLPRI.rawValue)
    /// There is room to write.
    public static let writable = Events(rawValue: EPOLLOUT.rawValue)
    /// The peer will send no more.
    public static let peerFinished = Events(rawValue: EPOLLRDHUP.rawValue)
    /// Both directions are over.
    public static let hangUp = Events(rawValue: EPOLLHUP.rawValue)
    /// The socket has an error to collect.
    public static let error = Events(rawValue: EPOLLERR.rawValue)
    /// Asks for a report on changes only; the reader must drain or remember.
    package static let edgeTriggered = Events(rawValue: EPOLLET.rawValue)

    /// The events that a stream socket is watched for: changes only, so that a reader that holds back costs no system
    /// call, and not for room to write, which a Unix socket would report with every byte the peer takes.
    package static let stream: Events = [.readable, .peerFinished, .edgeTriggered]
}

/// Owns a descriptor and hears about it from its loop, to which it is confined.
///
/// With `Events.stream` a change is reported once: a reader that did not drain the socket (a read that filled
/// its whole buffer) has to read again by itself. The loop keeps the watcher alive until it is removed, and
/// during each callback; removing it inside any callback is safe, and no event of the old descriptor arrives
/// afterwards.
open class Watcher {
    package final let loop: EventLoop
    /// -1 while not registered.
    package internal(set) final var descriptor: Int32 = -1
    /// Tells an event of this registration from a late one of the descriptor's former owner.
    final var generation: UInt32 = 0
    final var interest: Events = []
    /// Whether somebody else holds the same open file: a copy on another loop, or the process that passed it in.
    package final var isShared = false

    package init(loop: EventLoop) {
        self.loop = loop
    }

    /// Called on the loop with what happened to the descriptor.
    open func ready(_ events: Events) {
        preconditionFailure("a watcher must say what it does when its descriptor is ready")
    }
}
