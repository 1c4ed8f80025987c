import Model
import Synchronization
import Testing

@testable import Services

/// Work for one key never overlaps.
@Suite struct KeyedSerialQueueTests {
    private struct Work: Sendable {
        var atOnce: [Int: Int] = [:]
        var maxAtOnce: [Int: Int] = [:]
        var order: [Int] = []
    }

    private final class WorkLog: Sendable {
        private let work = Mutex(Work())

        var all: Work { work.withLock { $0 } }
        func note(_ number: Int) { work.withLock { $0.order.append(number) } }
        func began(_ key: Int) {
            work.withLock { work in
                work.atOnce[key, default: 0] += 1
                work.maxAtOnce[key] = max(work.maxAtOnce[key] ?? 0, work.atOnce[key] ?? 0)
            }
        }
        func ended(_ key: Int) { work.withLock { $0.atOnce[key, default: 0] -= 1 } }
    }

    @Test func workForAKeyIsSerial() async {
        let queue = KeyedSerialQueue<Int>()
        let log = WorkLog()
        await withDiscardingTaskGroup { group in
            for number in 0..<200 {
                let key = number % 3
                group.addTask {
                    await queue.run(key) {
                        log.began(key)
                        await Task.yield()
                        log.ended(key)
                    }
                }
            }
        }
        #expect(log.all.maxAtOnce == [0: 1, 1: 1, 2: 1])
    }

    @Test func workRunsInOrder() async {
        let queue = KeyedSerialQueue<String>()
        let log = WorkLog()
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await queue.run("call") { for await _ in opened {} }
            }
            while !queue.isBusy("call") { await Task.yield() }
            for number in 1...20 {
                // Each joins the queue behind the one before.
                while queue.waitingCount(of: "call") < number - 1 { await Task.yield() }
                group.addTask { await queue.run("call") { log.note(number) } }
            }
            while queue.waitingCount(of: "call") < 20 { await Task.yield() }
            // Others do not wait for it.
            await queue.run("another") { open.finish() }
        }
        #expect(log.all.order == Array(1...20))
        #expect(!queue.isBusy("call"))
    }

    @Test func aFailureReleasesTheKey() async throws {
        let queue = KeyedSerialQueue<Int>()
        await #expect(throws: Problem.self) { try await queue.run(1) { throw Problem.notFound("session") } }
        let answer = await queue.run(1) { "in" }
        #expect(answer == "in")
    }
}
