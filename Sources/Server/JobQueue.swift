import ServiceLifecycle

/// Work that nobody waits for beside a call: in the order in which it came, so many at a time, until the server ends.
struct Backlog<Job: Sendable>: Sendable {
    private let jobs = AsyncStream.makeStream(of: Job.self)
    private let most: Int

    /// - Parameter most: how many are done at a time.
    init(most: Int) { self.most = most }

    func add(_ job: Job) { jobs.continuation.yield(job) }

    /// Does what comes. When the server ends, what is being done is cancelled, and the rest left to the next process.
    func run(_ work: @escaping @Sendable (Job) async -> Void) async {
        await cancelWhenGracefulShutdown { [jobs, most] in
            await withTaskGroup(of: Void.self) { group in
                var running = 0
                for await job in jobs.stream {
                    if running >= most {
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
