internal import CLinux

/// An epoll instance: sockets are registered with a number, and `wait` returns the numbers of those that became
/// readable; of streams also those that became writable or were closed by the peer.
///
/// Edge-triggered: a socket is reported once per arrival, so the caller reads it until it is empty, or calls `rearm`.
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
        control(EPOLL_CTL_ADD, socket, number, EPOLLIN.rawValue)
    }

    /// Watches a stream for reading and writing.
    package func watchStream(_ socket: Int32, as number: UInt64) -> Bool {
        control(EPOLL_CTL_ADD, socket, number, Self.streamEvents)
    }

    /// Reports the stream again if it is readable or writable.
    package func rearmStream(_ socket: Int32, as number: UInt64) {
        _ = control(EPOLL_CTL_MOD, socket, number, Self.streamEvents)
    }

    /// Stops watching a socket.
    package func forget(_ socket: Int32) {
        var unused = epoll_event()
        _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &unused)
    }

    private static var streamEvents: UInt32 { EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue }

    /// Reports the socket again if it is still readable.
    package func rearm(of socket: Int32, as number: UInt64) {
        _ = control(EPOLL_CTL_MOD, socket, number, EPOLLIN.rawValue)
    }

    /// The same, and reports it once more when it becomes writable.
    package func rearmForWriting(_ socket: Int32, as number: UInt64) {
        _ = control(EPOLL_CTL_MOD, socket, number, EPOLLIN.rawValue | EPOLLOUT.rawValue)
    }

    private func control(_ operation: Int32, _ socket: Int32, _ number: UInt64, _ events: UInt32) -> Bool {
        var event = epoll_event()
        event.events = events | EPOLLET.rawValue
        event.data.u64 = number
        return epoll_ctl(descriptor, operation, socket, &event) == 0
    }

    /// Waits for at most `milliseconds`, for ever if negative, and returns the number of events.
    package func wait(milliseconds: Int32) -> Int {
        var count = clinux_wait(descriptor, events, Int32(Self.capacity), milliseconds)
        // Interrupted by a signal: return the events that arrived meanwhile.
        if count < 0 { count = clinux_wait(descriptor, events, Int32(Self.capacity), 0) }
        return count > 0 ? Int(count) : 0
    }

    /// The readiness of the socket of the `index`th event. An error counts as both: reading or writing will report it.
    package func readiness(_ index: Int) -> Readiness {
        guard index >= 0, index < Self.capacity else { return Readiness() }
        let bits = events[index].events
        let failed = bits & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        return Readiness(
            isReadable: failed || bits & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0,
            isWritable: failed || bits & EPOLLOUT.rawValue != 0,
            isClosing: failed || bits & EPOLLRDHUP.rawValue != 0,
            hasError: bits & EPOLLERR.rawValue != 0)
    }

    /// The number of the `index`th event of the last `wait`.
    package subscript(index: Int) -> UInt64 {
        index >= 0 && index < Self.capacity ? events[index].data.u64 : .max
    }
}

/// The readiness of a socket, as reported by epoll.
package struct Readiness: Hashable, Sendable {
    package var isReadable = false
    package var isWritable = false
    /// The peer closed its side: no more data after what can be read now.
    package var isClosing = false
    /// The socket has a pending error.
    package var hasError = false

    /// For a stream to be read without an event: it may also be closed.
    package static let perhapsReadable = Readiness(isReadable: true, isClosing: true)
}

/// Wakes a thread in `EventQueue.wait` from any other thread.
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
