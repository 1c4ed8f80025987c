internal import Dispatch
internal import Foundation
internal import Synchronization

/// A few threads that do nothing but hash, and a short queue before them.
///
/// Hashing is slow on purpose. On the cooperative pool or an event loop a burst of sign-ins would stop every call on the
/// machine; here it only makes sign-ins wait, and beyond the queue they are told to come back.
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

    /// Whether there was room for `work`.
    func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        let isQueued = queue.withLock { queue in
            guard !queue.isClosed, queue.work.count < limit else { return false }
            queue.work.append(work)
            return true
        }
        if isQueued { wake.signal() }
        return isQueued
    }

    /// Ends the threads once what waits is done.
    func stop() {
        queue.withLock { $0.isClosed = true }
        for _ in 0..<count { wake.signal() }
    }

    private func run() {
        while true {
            wake.wait()
            let next = queue.withLock { $0.work.isEmpty ? nil : $0.work.removeFirst() }
            // Each signal stands for one piece of work, but for the last ones, which stand for the end.
            guard let next else { return }
            next()
        }
    }
}
