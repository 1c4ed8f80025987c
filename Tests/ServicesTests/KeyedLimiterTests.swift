import Synchronization
import Testing

@testable import Services

struct KeyedLimiterTests {
    /// How many run, in all and of each key, and the most that there were.
    private final class Counter: Sendable {
        let state = Mutex<(running: [String: Int], most: Int, mostOfKey: Int, done: Int)>(([:], 0, 0, 0))

        func enter(_ key: String) {
            state.withLock { state in
                state.running[key, default: 0] += 1
                state.most = max(state.most, state.running.values.reduce(0, +))
                state.mostOfKey = max(state.mostOfKey, state.running[key] ?? 0)
            }
        }

        func leave(_ key: String) {
            state.withLock { state in
                state.running[key, default: 1] -= 1
                state.done += 1
            }
        }
    }

    @Test func soManyRunInAllAndOfEachKey() async throws {
        let limiter = KeyedLimiter<String>(maxRunning: 5, maxOfKey: 2)
        let counter = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                let key = "\(index % 7)"
                group.addTask {
                    try await limiter.run(key) {
                        counter.enter(key)
                        for _ in 0..<10 { await Task.yield() }
                        counter.leave(key)
                    }
                }
            }
            try await group.waitForAll()
        }
        let state = counter.state.withLock { $0 }
        #expect(state.done == 200)
        #expect(state.most <= 5)
        #expect(state.mostOfKey <= 2)
        #expect(limiter.waitingCount == 0)
    }

    /// Who is cancelled waits no more, whether before or after it began to wait, and nobody loses a turn by it.
    @Test func whoIsCancelledWaitsNoMore() async throws {
        let limiter = KeyedLimiter<String>(maxRunning: 1, maxOfKey: 1)
        let (held, release) = AsyncStream.makeStream(of: Void.self)
        let holder = Task {
            try await limiter.run("a") { for await _ in held { break } }
        }
        var waiting: [Task<Void, any Error>] = []
        for index in 0..<50 {
            let task = Task {
                try await limiter.run("a") {}
            }
            if index.isMultiple(of: 2) { task.cancel() }
            waiting.append(task)
        }
        for _ in 0..<100 { await Task.yield() }
        for index in stride(from: 0, to: 50, by: 5) { waiting[index].cancel() }
        release.yield()
        try await holder.value
        for (index, task) in waiting.enumerated() where !index.isMultiple(of: 2) && !index.isMultiple(of: 5) {
            try await task.value
        }
        for task in waiting { _ = await task.result }
        #expect(limiter.waitingCount == 0)
        try await limiter.run("a") {}
    }
}
