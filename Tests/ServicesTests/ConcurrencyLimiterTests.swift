import Model
import TestSupport
import Testing

@testable import Services

private struct Stats {
    var running = 0
    var max = 0
    var done = 0
}

@Suite struct ConcurrencyLimiterTests {
    @Test(.timeLimit(.minutes(1)))
    func concurrencyAndQueueAreLimited() async throws {
        let work = ConcurrencyLimiter(maxConcurrent: 2, maxWaiting: 50)
        let stats = Shared(Stats())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await work.run {
                        stats.update { stats in
                            stats.running += 1
                            stats.max = max(stats.max, stats.running)
                        }
                        var value = number
                        for _ in 0..<1_000 { value = value &* 31 &+ 7 }
                        stats.update { stats in
                            stats.running -= 1
                            stats.done += 1
                        }
                        return value
                    }
                }
            }
            for try await _ in group {}
        }
        #expect(stats.value.done == 50)
        #expect(stats.value.max <= 2)
        #expect(work.waitingCount == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func workIsRejectedWhenTheQueueIsFull() async throws {
        let work = ConcurrencyLimiter(maxConcurrent: 1, maxWaiting: 0)
        let (started, start) = AsyncStream<Void>.makeStream()
        let isOpen = Shared(false)
        let first = Task {
            try await work.run {
                start.yield()
                while !isOpen.value {}
            }
        }
        for await _ in started { break }
        let problem = await #expect(throws: Problem.self) { try await work.run {} }
        #expect(problem?.kind == .unavailable && problem?.retryAfter != nil)
        isOpen.update { $0 = true }
        try await first.value
        // An error frees the slot, too.
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await work.run { throw Failure() } }
        #expect(try await work.run { 7 } == 7)
    }
}
