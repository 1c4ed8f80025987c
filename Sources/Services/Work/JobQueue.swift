import ServiceLifecycle

/// Runs background jobs in order, a limited number at a time, until the server stops.
struct JobQueue<Job: Sendable>: Sendable {
    private let jobs = AsyncStream.makeStream(of: Job.self)
    private let maxConcurrent: Int

    /// - Parameter maxConcurrent: how many jobs run at a time.
    init(maxConcurrent: Int) { self.maxConcurrent = maxConcurrent }

    func add(_ job: Job) { jobs.continuation.yield(job) }

    /// Runs jobs as they are added. When the server stops, running jobs are cancelled and the rest is left to the next
    /// process.
    func run(_ work: @escaping @Sendable (Job) async -> Void) async {
        await cancelWhenGracefulShutdown { [jobs, maxConcurrent] in
            await withTaskGroup(of: Void.self) { group in
                var running = 0
                for await job in jobs.stream {
                    if running >= maxConcurrent {
                        await group.next()
                        running -= 1
                    }
                    group.addTask { await work(job) }
                    running += 1
                }
                group.cancelAll()
            }
        }
    }
}
