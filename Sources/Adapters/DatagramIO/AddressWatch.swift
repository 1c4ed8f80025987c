import Synchronization
package import Wire

/// Follows the addresses of this machine on a thread of its own: those of DHCP and of IPv6 change while it runs.
///
/// The kernel tells that something changed (rtnetlink(7)); what there is now is then read from its tables, so that a
/// lost notification does no harm.
package final class AddressWatch: Sendable {
    /// Gets the addresses at the start and when they have changed, on the thread of the watch. False to get them again
    /// soon.
    package typealias Handler = @Sendable (LocalAddresses) -> Bool

    /// Interfaces come up in several steps: after a change the next one is looked for this long later.
    private static let settleMilliseconds: Int32 = 200
    /// Until the next attempt, when the tables cannot be read, or the handler asks for it.
    private static let retryMilliseconds: Int32 = 2_000

    private let stopping: WakeSignal
    private let thread: WorkerThread

    private init(_ stopping: WakeSignal, _ thread: WorkerThread) {
        self.stopping = stopping
        self.thread = thread
    }

    /// nil when the system does not allow it.
    ///
    /// - Parameter known: the addresses that the caller knows.
    package static func start(after known: LocalAddresses, _ handle: @escaping Handler) -> AddressWatch? {
        guard let stopping = WakeSignal(), let loop = Loop(stopping, known) else { return nil }
        let held = Mutex<Loop?>(loop)
        let thread = WorkerThread.start("addresses") {
            guard var loop = held.withLock({ $0.take() }) else { return }
            loop.run(handle)
        }
        return thread.map { AddressWatch(stopping, $0) }
    }

    /// Ends the thread, after a change that is being handled.
    package func stop() {
        stopping.raise()
        thread.join()
    }

    /// Sendable, since it is handed to its thread once, and nobody else has it.
    private struct Loop: ~Copyable, @unchecked Sendable {
        private static let notified: UInt64 = 1
        private static let stopped: UInt64 = 2

        private let queue: EventQueue
        private let notifications: NetlinkSocket
        private let stopping: WakeSignal
        private var tracker: AddressTracker

        init?(_ stopping: WakeSignal, _ known: LocalAddresses) {
            guard let notifications = NetlinkSocket(isNotified: true), let queue = EventQueue(),
                queue.watch(notifications.descriptor, as: Self.notified),
                queue.watch(stopping.descriptor, as: Self.stopped)
            else { return nil }
            self.queue = queue
            self.notifications = notifications
            self.stopping = stopping
            tracker = AddressTracker(known)
        }

        mutating func run(_ handle: Handler) {
            var isHandled = false
            while true {
                notifications.clear()
                let now = SystemClock.now()
                var timeout: UInt64?
                if let found = LocalAddresses.read() {
                    if tracker.update(found, at: now) || !isHandled { isHandled = handle(tracker.addresses) }
                    timeout = tracker.deadline.map { $0.nanoseconds(since: now) / 1_000_000 &+ 1 }
                } else {
                    isHandled = false
                }
                if !isHandled { timeout = min(timeout ?? .max, UInt64(AddressWatch.retryMilliseconds)) }
                switch wait(AddressWatch.settleMilliseconds, isWhole: true) {
                case .stopped: return
                case .notified: break
                case .timedOut: if wait(timeout.map { Int32(clamping: $0) } ?? -1) == .stopped { return }
                }
            }
        }

        private enum Event {
            case stopped
            case notified
            case timedOut
        }

        /// - Parameter isWhole: whether a notification does not end it.
        private func wait(_ milliseconds: Int32, isWhole: Bool = false) -> Event {
            var event = Event.timedOut
            let until = SystemClock.now().adding(nanoseconds: UInt64(max(0, milliseconds)) &* 1_000_000)
            while true {
                let left =
                    milliseconds < 0 ? -1 : Int32(clamping: until.nanoseconds(since: SystemClock.now()) / 1_000_000)
                let count = queue.wait(milliseconds: left)
                if (0..<count).contains(where: { queue[$0] == Self.stopped }) { return .stopped }
                if count > 0 { event = .notified }
                if event == .notified, !isWhole { return event }
                if milliseconds >= 0, SystemClock.now() >= until { return event }
            }
        }
    }
}
