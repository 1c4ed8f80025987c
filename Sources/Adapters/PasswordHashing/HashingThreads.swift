internal import Dispatch
internal import Foundation
internal import Synchronization

/// A small thread pool for hashing, with a bounded queue.
///
/// Hashing is slow on purpose. On the cooperative pool or an event loop a burst of sign-ins would stall every call on
/// the machine; here only sign-ins wait, and those that exceed the queue are rejected.
final class HashingThreads: Sendable {
    private struct Queue {
        var work: [@Sendable () -> Void] = []
        var isClosed = false
    }

    private let queue = Mutex(Queue())
    private let wake = DispatchSemaphore(value: 0)
    private let limit: Int
    private let count: Int

    init(count: Int, limit: Int) {
        self.limit = max(1, limit)
        self.count = max(1, count)
    }

    /// The threads keep this object until `stop`.
    func start() {
        for number in 0..<count {
            let thread = Thread { self.run() }
            thread.name = "hashing-\(number)"
            thread.start()
        }
    }

    /// Queues `work`. Returns false if the queue is full or closed.
    func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        let isQueued = queue.withLock { queue in
            guard !queue.isClosed, queue.work.count < limit else { return false }
            queue.work.append(work)
            return true
        }
        if isQueued { wake.signal() }
        return isQueued
    }

    /// Ends the threads once the queued work is done.
    func stop() {
        queue.withLock { $0.isClosed = true }
        for _ in 0..<count { wake.signal() }
    }

    private func run() {
        while true {
            wake.wait()
            let next = queue.withLock { $0.work.isEmpty ? nil : $0.work.removeFirst() }
            // Each signal is for one work item, except the last ones, which end the threads.
            guard let next else { return }
            next()
        }
    }
}
