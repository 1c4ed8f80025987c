import MediaFiles
import Model
import Synchronization
import TestSupport
import Testing

@testable import WebAPI

/// A file is sent only for as long as its reader may have it.
@Suite struct FileBodyTests {
    private struct Denied: Error {}

    private func body(chunks: Int, interval: Duration, allowed: Int) async throws -> FileBody {
        let files = try MediaFiles(path: ScratchDirectory().file("media"))
        let id = FileID.make(at: Timestamp(milliseconds: 1))
        try await files.write([UInt8](repeating: 7, count: chunks * 64 * 1024), as: id)
        let file = try await files.open(id)
        let checks = Mutex(0)
        return FileBody(file: file, range: 0..<file.byteCount, interval: interval) {
            let count = checks.withLock { checks in
                checks += 1
                return checks
            }
            if count > allowed { throw Denied() }
        }
    }

    @Test func itEndsWhenTheCheckFails() async throws {
        let body = try await body(chunks: 8, interval: .zero, allowed: 3)
        var sent = 0
        await #expect(throws: Denied.self) { try await body.send { sent += $0.count } }
        #expect(sent == 3 * 64 * 1024, "Nothing after the check that failed.")
    }

    @Test func itIsWholeWhereEveryCheckPasses() async throws {
        let body = try await body(chunks: 3, interval: .zero, allowed: .max)
        var sent = 0
        try await body.send { sent += $0.count }
        #expect(sent == 3 * 64 * 1024)
    }

    @Test func aShortOneIsCheckedBeforeItBeginsAlone() async throws {
        let body = try await body(chunks: 3, interval: .seconds(3600), allowed: 0)
        var sent = 0
        try await body.send { sent += $0.count }
        #expect(sent == 3 * 64 * 1024)
    }
}
