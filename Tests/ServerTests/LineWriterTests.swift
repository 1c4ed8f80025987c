import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Server

/// A log that nobody reads, or that is gone.
@Suite("Lines of the log", .timeLimit(.minutes(1))) struct LineWriterTests {
    private static func writer(_ descriptor: Int32, capacity: Int = 1_000) -> LineWriter {
        LineWriter(descriptor, capacity: capacity) { "\($0) lost\n" }
    }

    /// Reads until a line ends with `end`.
    private static func lines(from pipe: Pipe, until end: String) -> [Substring] {
        var text = ""
        while !text.hasSuffix(end + "\n") {
            let data = pipe.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return text.split(separator: "\n")
    }

    @Test("lines arrive in their order, also those that are longer than a piece")
    func order() {
        let pipe = Pipe()
        let writer = Self.writer(pipe.fileHandleForWriting.fileDescriptor, capacity: 1 << 20)
        let long = String(repeating: "x", count: 10_000)
        let sent = (0..<300).map { $0 % 100 == 0 ? "\($0) \(long)" : "line \($0)" } + ["end"]
        let done = Mutex(false)
        Thread.detachNewThread {
            for line in sent { writer.write(line + "\n") }
            writer.flush()
            done.withLock { $0 = true }
        }
        #expect(Self.lines(from: pipe, until: "end").map(String.init) == sent)
        #expect(writer.lostCount == 0)
    }

    @Test("nobody waits for a reader, and what is lost is told in its place")
    func full() async throws {
        let pipe = Pipe()
        let writer = Self.writer(pipe.fileHandleForWriting.fileDescriptor)
        // More than a pipe takes.
        let count = 50_000
        for number in 0..<count { writer.write("line \(number)\n") }
        writer.flush()
        #expect(writer.lostCount > 0)
        var (next, told) = (0, 0)
        while next < count {
            for line in Self.lines(from: pipe, until: "") {
                if line.hasSuffix(" lost"), let lost = Int(line.dropLast(5)) {
                    (next, told) = (next + lost, told + lost)
                } else {
                    try #require(line == "line \(next)")
                    next += 1
                }
            }
        }
        #expect(next == count && told == writer.lostCount)
        writer.write("after\n")
        #expect(Self.lines(from: pipe, until: "after") == ["after"])
    }

    @Test("a reader that is gone costs lines and nothing else")
    func closed() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let writer = Self.writer(pipe.fileHandleForWriting.fileDescriptor)
        writer.write("one\n")
        writer.flush()
        writer.write("two\nthree\n")
        writer.flush()
        #expect(writer.lostCount == 3)
    }
}
