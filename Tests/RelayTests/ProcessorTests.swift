import DatagramIO
import Foundation
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

    /// Linux has them from 6.12 on, and tells them in nanoseconds where it was built to.
    private static let hasTurns =
        ProcessInfo.processInfo.isOperatingSystemAtLeast(.init(majorVersion: 6, minorVersion: 12, patchVersion: 0))
        && !schedule("self").isEmpty

    @Test(.enabled(if: hasTurns, "this Linux has no turns")) func threadsOfLoopsHaveShortTurns() throws {
        let turn = Mutex("")
        let thread = try #require(
            WorkerThread.start("short") { turn.withLock { $0 = Self.schedule("thread-self") } })
        thread.join()
        #expect(turn.withLock { $0 } == "100000")
        #expect(Self.schedule("self") != "100000", "others have longer ones")
    }

    private static func schedule(_ thread: String) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(thread)/sched", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("se.slice") }
        return line?.split(separator: " ").last.map(String.init) ?? ""
    }
}
