import Dispatch
import Model
import TestSupport
import Testing

@testable import Storage

@Suite("Long reads") struct LongReadsTests {
    @Test("leave connections to short ones, and run two at a time") func connections() async throws {
        let scratch = try await ScratchStore()
        let store = scratch.store
        let released = DispatchSemaphore(value: 0)
        let (running, most) = (Shared(0), Shared(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    try await store.longRead { _ in
                        let now = running.update { running in
                            running += 1
                            return running
                        }
                        most.update { $0 = max($0, now) }
                        released.wait()
                        running.update { $0 -= 1 }
                    }
                }
            }
            while running.value < 2 { await Task.yield() }
            // While some run and others wait, what is short is read nevertheless.
            for _ in 0..<20 { _ = try await store.read { try $0.inboxUsers(of: .make(at: $0.now)) } }
            for _ in 0..<6 { released.signal() }
            try await group.waitForAll()
        }
        #expect(most.value == 2)
    }

    @Test("give their place back when they throw") func errors() async throws {
        let scratch = try await ScratchStore()
        for _ in 0..<5 {
            await #expect(throws: CancellationError.self) {
                try await scratch.store.longRead { _ in throw CancellationError() }
            }
        }
        #expect(try await scratch.store.longRead { _ in 1 } == 1)
    }
}
