import DatagramIO
import Synchronization
import Testing

@Suite struct ProcessorTests {
    @Test func whoMayRunOnOneProcessorCountsOne() throws {
        let counts = Mutex<[Int]>([])
        let thread = try #require(
            WorkerThread.start("pinned") {
                let before = ProcessorCount.available
                guard WorkerThread.pin(to: 0) else { return }
                counts.withLock { $0 = [before, ProcessorCount.available] }
            })
        thread.join()
        #expect(counts.withLock { $0 } == [ProcessorCount.available, 1])
    }
}
