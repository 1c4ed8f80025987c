import DatagramIO
import Foundation
import Synchronization
import Testing

@Suite struct ProcessorTests {
    @Test func availableProcessorsFollowAffinity() throws {
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

    /// Linux has them from 6.12 on, and reports them in nanoseconds if it is built to.
    private static let hasTimeSlices =
        ProcessInfo.processInfo.isOperatingSystemAtLeast(.init(majorVersion: 6, minorVersion: 12, patchVersion: 0))
        && !schedule("self").isEmpty

    @Test(.enabled(if: hasTimeSlices, "this Linux has no time slices")) func workerThreadsHaveShortTimeSlices() throws {
        let slice = Mutex("")
        let thread = try #require(
            WorkerThread.start("short") { slice.withLock { $0 = Self.schedule("thread-self") } })
        thread.join()
        #expect(slice.withLock { $0 } == "100000")
        #expect(Self.schedule("self") != "100000", "others have longer ones")
    }

    private static func schedule(_ thread: String) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(thread)/sched", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("se.slice") }
        return line?.split(separator: " ").last.map(String.init) ?? ""
    }
}
