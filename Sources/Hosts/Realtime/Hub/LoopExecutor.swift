import NIOCore

/// Runs tasks on an event loop, between its other work.
///
/// One thread reads a request, runs it and sends the result: on the global executor each step would wake another
/// thread, which costs more than most requests. Long operations have threads of their own and only resume here.
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
