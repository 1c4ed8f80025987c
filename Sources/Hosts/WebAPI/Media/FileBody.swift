import MediaFiles

/// A part of a file on its way to a client, who gets it only for as long as a check passes.
package struct FileBody: Sendable {
    let file: StoredFile
    let range: Range<Int>
    /// How often is checked.
    let interval: Duration
    /// Throws when the client may not have the file any more.
    let check: @Sendable () async throws -> Void

    /// Hands the bytes over in pieces, each when the one before was taken. Nothing that is read from the file leaves more
    /// than `interval` after the last check: to a client that reads slowly, the check comes before each piece.
    func send(_ take: ([UInt8]) async throws -> Void) async throws {
        let clock = ContinuousClock()
        var checked = clock.now
        try await file.read(range) { bytes in
            if clock.now - checked >= interval {
                try await check()
                checked = clock.now
            }
            try await take(bytes)
        }
    }
}
