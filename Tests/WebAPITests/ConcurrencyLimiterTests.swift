import Model
import Synchronization
import Testing
import WebAPI

private struct Figures {
    var running = 0
    var most = 0
    var done = 0
}

/// What tests share between tasks.
private final class Shared<Value: Sendable>: Sendable {
    private let box: Mutex<Value>
    init(_ value: Value) { box = Mutex(value) }
    var value: Value { box.withLock { $0 } }
    func update(_ change: (inout Value) -> Void) { box.withLock { change(&$0) } }
}

@Suite struct BoundedWorkTests {
    @Test(.timeLimit(.minutes(1)))
    func soMuchRunsAtATimeAndSoMuchWaits() async throws {
        let work = BoundedWork(atATime: 2, mostWaiting: 50)
        let figures = Shared(Figures())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await work.run {
                        figures.update { figures in
                            figures.running += 1
                            figures.most = max(figures.most, figures.running)
                        }
                        var value = number
                        for _ in 0..<1_000 { value = value &* 31 &+ 7 }
                        figures.update { figures in
                            figures.running -= 1
                            figures.done += 1
                        }
                        return value
                    }
                }
            }
            for try await _ in group {}
        }
        #expect(figures.value.done == 50)
        #expect(figures.value.most <= 2)
        #expect(work.waitingCount == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func whoFindsTheQueueFullIsSentAway() async throws {
        let work = BoundedWork(atATime: 1, mostWaiting: 0)
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
        // An error gives the turn back, too.
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await work.run { throw Failure() } }
        #expect(try await work.run { 7 } == 7)
    }
}
