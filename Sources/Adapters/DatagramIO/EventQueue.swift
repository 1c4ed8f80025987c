internal import CLinux

/// An epoll instance: sockets go in with a number, and the numbers of those that became readable come out.
///
/// Edge-triggered: a socket is reported once per arrival, so whoever gets its number reads it empty, or asks again with
/// `remind`.
package struct EventQueue: ~Copyable {
    private let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private static let capacity = 256

    /// nil when the system has no more descriptors.
    package init?() {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        events = .allocate(capacity: Self.capacity)
        events.initialize(repeating: epoll_event(), count: Self.capacity)
    }

    deinit {
        close(descriptor)
        events.deallocate()
    }

    /// Watches a socket until it is closed. False when the system cannot.
    package func watch(_ socket: Int32, as number: UInt64) -> Bool {
        control(EPOLL_CTL_ADD, socket, number)
    }

    /// Reports the socket again if it is still readable.
    package func remind(of socket: Int32, as number: UInt64) {
        _ = control(EPOLL_CTL_MOD, socket, number)
    }

    private func control(_ operation: Int32, _ socket: Int32, _ number: UInt64) -> Bool {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        event.data.u64 = number
        return epoll_ctl(descriptor, operation, socket, &event) == 0
    }

    /// Waits for at most `milliseconds`, for ever when negative, and returns how many numbers there are to read.
    package func wait(milliseconds: Int32) -> Int {
        let count = epoll_wait(descriptor, events, Int32(Self.capacity), milliseconds)
        return count > 0 ? Int(count) : 0
    }

    /// The number of the `index`th event of the last `wait`.
    package subscript(index: Int) -> UInt64 {
        index >= 0 && index < Self.capacity ? events[index].data.u64 : .max
    }
}

extension EventQueue {
    /// Whether the `index`th socket of the last `wait` keeps errors to be read.
    package func hasError(_ index: Int) -> Bool {
        index >= 0 && index < Self.capacity && events[index].events & EPOLLERR.rawValue != 0
    }
}

/// Wakes a thread that sleeps in `EventQueue.wait`, from any other.
package final class WakeSignal: Sendable {
    package let descriptor: Int32

    /// nil when the system has no more descriptors.
    package init?() {
        let descriptor = clinux_eventfd()
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    package func raise() {
        _ = eventfd_write(descriptor, 1)
    }

    package func clear() {
        var value: UInt64 = 0
        _ = eventfd_read(descriptor, &value)
    }
}
