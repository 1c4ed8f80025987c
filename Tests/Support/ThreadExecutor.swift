import Dispatch

/// Runs tasks on a thread of its own. The threads that all tests share may be held up for a minute by tests that block
/// theirs; a test whose server measures time meanwhile prefers this one (`withTaskExecutorPreference`).
package final class ThreadExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "thread-executor")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
