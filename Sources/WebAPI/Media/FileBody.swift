import MediaFiles

/// A part of a file that is sent to a client for as long as a check passes.
package struct FileBody: Sendable {
    let file: StoredFile
    let range: Range<Int>
    /// The interval between checks.
    let interval: Duration
    /// Throws if the client may no longer have the file.
    let check: @Sendable () async throws -> Void

    /// Writes the bytes in chunks, each after the previous one was written. No chunk is written more than `interval`
    /// after the last check: for a client that reads slowly, the check runs before each chunk.
    func send(_ write: ([UInt8]) async throws -> Void) async throws {
        let clock = ContinuousClock()
        var checked = clock.now
        try await file.read(range) { bytes in
            if clock.now - checked >= interval {
                try await check()
                checked = clock.now
            }
            try await write(bytes)
        }
    }
}
