import NIOCore

/// Runs tasks on an event loop, between its other work.
///
/// A request is read, run and answered by one thread: on the global executor each of its steps would wake another thread,
/// which costs more than most requests do. What takes long has threads of its own and only resumes here.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
