import CSystemd
import Glibc
import RelayPosix

/// Tells the service manager how the daemon is doing.
///
/// sd_notify(3) can block while the manager is busy, so a thread of its own sends, in the order of the calls;
/// a caller never waits, except in `flush`. Without `NOTIFY_SOCKET` every call does nothing.
package final class ServiceNotifier: Sendable {
    private enum Letter: Sendable {
        case notification(Notification)
        case flush(EventDescriptor)
    }

    /// Sends one datagram to the manager.
    package typealias Sender = @Sendable (String) -> Void

    private let mailbox: Mailbox<Letter>?

    /// A notifier for the manager that started this process.
    package convenience init() {
        if unsafe getenv("NOTIFY_SOCKET") == nil {
            self.init(sender: nil)
        } else {
            self.init(sender: { text in _ = unsafe sd_notify(0, text) })
        }
    }

    /// - Parameters:
    ///   - sender: nil makes every call do nothing.
    ///   - clock: monotonic nanoseconds, for the status line's pace.
    ///   - wake: wakes the thread that sends.
    package init(
        sender: Sender?,
        clock: @escaping @Sendable () -> Int64 = SystemClock.monotonic,
        wake: @escaping @Sendable (EventDescriptor) -> Void = { $0.signal() }
    ) {
        guard let sender, let mailbox = Mailbox<Letter>(capacity: 64, wake: wake) else {
            self.mailbox = nil
            return
        }
        self.mailbox = mailbox
        do throws(PosixError) {
            try startDetachedThread("notify") {
                ServiceNotifier.deliver(from: mailbox, to: sender, clock: clock)
            }
        } catch {
            mailbox.close()
        }
    }

    deinit { mailbox?.close() }

    /// Queues a message; status lines are sent on change and at most once a second.
    ///
    /// - Returns: false when it was dropped, since the manager has not taken those before it.
    @discardableResult
    package func send(_ notification: Notification) -> Bool {
        let isVital =
            switch notification {
            case .ready, .reloading, .stopping, .failed, .restartReset: true
            case .status, .extendTimeout, .watchdog, .watchdogTrigger: false
            }
        let isUrgent = if case .status = notification { false } else { true }
        return mailbox?.offer(.notification(notification), isVital: isVital, isUrgent: isUrgent) ?? true
    }

    /// A reload begins now.
    package func reloading(status: String) {
        send(.reloading(monotonicMicroseconds: SystemClock.monotonic() / 1000, status: status))
    }

    /// Waits until everything queued so far has been sent; for start-up and exit only.
    ///
    /// - Returns: false when the time was up first.
    @discardableResult
    package func flush(milliseconds: Int32 = 1000) -> Bool {
        guard let mailbox, let done = EventDescriptor() else { return true }
        guard mailbox.offer(.flush(done), isVital: true, isUrgent: true) else { return false }
        return done.wait(milliseconds: milliseconds)
    }
}

extension ServiceNotifier {
    private static func deliver(from mailbox: Mailbox<Letter>, to sender: Sender, clock: () -> Int64) {
        var throttle = StatusThrottle()
        while true {
            let wait = throttle.due.map { Int32(clamping: max(0, ($0 - clock()) / 1_000_000 + 1)) }
            let batch = mailbox.take(milliseconds: wait)
            for letter in batch.elements {
                switch letter {
                case .flush(let done): done.signal()
                case .notification(let notification):
                    deliver(notification, through: &throttle, to: sender, at: clock())
                }
            }
            if let line = throttle.elapsed(at: clock()) { sender(Notification.status(line).text) }
            if batch.isLast { return }
        }
    }

    private static func deliver(
        _ notification: Notification,
        through throttle: inout StatusThrottle,
        to sender: Sender,
        at now: Int64
    ) {
        if case .status = notification {
            guard let line = throttle.offered(notification.statusLine ?? "", at: now) else { return }
            sender(Notification.status(line).text)
        } else {
            if let line = notification.statusLine { throttle.sent(line, at: now) }
            sender(notification.text)
        }
    }
}
