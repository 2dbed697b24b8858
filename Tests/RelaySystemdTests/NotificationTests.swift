import RelaySystemd
import Testing

@Suite("Notifications")
struct NotificationTests {
    @Test(
        "each notification is the datagram sd_notify(3) asks for",
        arguments: [
            (Notification.ready(status: "Serving"), "READY=1\nSTATUS=Serving"),
            (
                .reloading(monotonicMicroseconds: 42, status: "Reloading"),
                "RELOADING=1\nMONOTONIC_USEC=42\nSTATUS=Reloading"
            ),
            (.stopping(status: "Draining"), "STOPPING=1\nSTATUS=Draining"),
            (.status("12 in flight"), "STATUS=12 in flight"),
            (.extendTimeout(.milliseconds(2500)), "EXTEND_TIMEOUT_USEC=2500000"),
            (.extendTimeout(.seconds(-1)), "EXTEND_TIMEOUT_USEC=0"),
            (.extendTimeout(.seconds(Int64.max)), "EXTEND_TIMEOUT_USEC=86400000000"),
            (.watchdog, "WATCHDOG=1"),
            (.watchdogTrigger, "WATCHDOG=trigger"),
            (.restartReset, "RESTART_RESET=1"),
            (
                .failed(status: "cannot read the configuration"),
                "STATUS=cannot read the configuration"
            ),
        ]
    )
    func text(notification: Notification, text: String) {
        #expect(notification.text == text)
    }

    @Test("a status with line breaks cannot smuggle in another assignment")
    func injection() {
        #expect(Notification.status("a\nWATCHDOG=trigger").text == "STATUS=a\\nWATCHDOG=trigger")
    }

    @Test("a status line goes out at once, its changes once a second, repetitions never")
    func throttle() {
        let second: Int64 = 1_000_000_000
        var throttle = StatusThrottle()
        expect(throttle.offered("a", at: 0), "a")
        expect(throttle.offered("a", at: 2 * second), nil)
        expect(throttle.offered("b", at: 2 * second), "b")
        expect(throttle.offered("c", at: 2 * second + 1), nil)
        expect(throttle.offered("d", at: 2 * second + 2), nil)
        #expect(throttle.due == 3 * second)
        expect(throttle.elapsed(at: 3 * second - 1), nil)
        expect(throttle.elapsed(at: 3 * second), "d")
        #expect(throttle.due == nil)
    }

    @Test("a line that changes back before it was due is not sent")
    func changedBack() {
        var throttle = StatusThrottle()
        expect(throttle.offered("a", at: 0), "a")
        expect(throttle.offered("b", at: 1), nil)
        expect(throttle.offered("a", at: 2), nil)
        #expect(throttle.due == nil)
    }

    @Test("notifications reach the manager in the order of the calls", .timeLimit(.minutes(5)))
    func order() throws {
        let recorder = try Recorder<String>()
        let notifier = ServiceNotifier(sender: { recorder.take($0) }, clock: { 0 })
        notifier.send(.ready(status: "up"))
        notifier.send(.status("up"))
        notifier.send(.watchdog)
        notifier.send(.stopping(status: "down"))
        notifier.send(.extendTimeout(.seconds(1)))
        #expect(notifier.flush(milliseconds: 30_000))
        #expect(
            recorder.elements == [
                "READY=1\nSTATUS=up", "WATCHDOG=1", "STOPPING=1\nSTATUS=down", "EXTEND_TIMEOUT_USEC=1000000",
            ]
        )
    }

    @Test("a manager that does not read never holds the daemon up", .timeLimit(.minutes(5)))
    func stalledManager() throws {
        let recorder = try Recorder<String>(isStalled: true)
        let notifier = ServiceNotifier(sender: { recorder.take($0) })
        for _ in 0..<10_000 { notifier.send(.watchdog) }
        notifier.send(.stopping(status: "down"))
        #expect(!notifier.flush(milliseconds: 1))
        #expect(recorder.elements.isEmpty)
        recorder.open()
        #expect(notifier.flush(milliseconds: 30_000))
        #expect(recorder.elements.count < 200)
        #expect(recorder.elements.last == "STOPPING=1\nSTATUS=down")
    }

    @Test("without a manager nothing happens and nothing waits")
    func unmanaged() {
        let notifier = ServiceNotifier(sender: nil)
        #expect(notifier.send(.ready(status: "up")))
        #expect(notifier.flush(milliseconds: 0))
    }
}
