internal import CLinux
import Synchronization
package import Wire

/// A dedicated thread for an event loop, outside of Swift's cooperative pool, which must not be blocked.
///
/// Packets should not wait for other work of the server, so the thread asks the scheduler to run it as soon as it
/// wakes.
package final class WorkerThread: Sendable {
    /// The scheduler's time slice in nanoseconds: the shortest that Linux supports.
    private static let timeSlice: UInt64 = 100_000

    private let handle: Mutex<pthread_t?>

    private init(_ handle: pthread_t) {
        self.handle = Mutex(handle)
    }

    /// Runs `body` on a new thread; nil when the system does not allow another one. Signals go to other threads.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> WorkerThread? {
        let box = Unmanaged.passRetained(
            Body {
                _ = clinux_take_turns(timeSlice)
                body()
            })
        var everySignal = sigset_t()
        var before = sigset_t()
        sigfillset(&everySignal)
        pthread_sigmask(SIG_SETMASK, &everySignal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var handle = pthread_t()
        let status = pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            box.release()
            return nil
        }
        pthread_setname_np(handle, String(name.prefix(15)))
        return WorkerThread(handle)
    }

    /// Waits until the thread has ended. Blocks the caller.
    package func join() {
        let handle = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let handle { pthread_join(handle, nil) }
    }

    /// Binds the calling thread to one processor: the `index`th of those that it may run on, modulo their number. False
    /// when the system does not allow it.
    package static func pin(to index: Int) -> Bool {
        clinux_pin(UInt32(truncatingIfNeeded: index)) == 0
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// The clocks that hosts read, once for each batch.
package enum SystemClock {
    package static func now() -> Instant {
        Instant(nanoseconds: nanoseconds(CLOCK_MONOTONIC))
    }

    package static func unixSeconds() -> Int64 {
        Int64(clamping: nanoseconds(CLOCK_REALTIME) / 1_000_000_000)
    }

    package static func unixNanoseconds() -> UInt64 {
        nanoseconds(CLOCK_REALTIME)
    }

    /// The CPU time of this thread, without the time in which others ran.
    package static func threadNanoseconds() -> UInt64 {
        nanoseconds(CLOCK_THREAD_CPUTIME_ID)
    }

    private static func nanoseconds(_ clock: Int32) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}

/// Processors that this process may run on: those of the machine, or fewer in a container or under `taskset`.
package enum ProcessorCount {
    package static var available: Int {
        let allowed = Int(clinux_processors())
        return allowed > 0 ? allowed : max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}
