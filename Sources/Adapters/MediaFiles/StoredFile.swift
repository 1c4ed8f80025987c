/// A media file that is open for reading; closed with the last reference.
package struct StoredFile: Sendable {
    /// The number of bytes per read: large enough for few reads, small enough for memory.
    private static let chunkSize = 64 * 1024

    package let byteCount: Int
    let descriptor: FileDescriptor

    init(_ descriptor: FileDescriptor) throws {
        self.descriptor = descriptor
        byteCount = try descriptor.byteCount
    }

    /// Passes the bytes of a range to `body` in chunks, each after the previous call has returned.
    package func read(_ range: Range<Int>, _ body: ([UInt8]) async throws -> Void) async throws {
        var start = range.lowerBound
        while start < range.upperBound {
            let part = start..<min(start + Self.chunkSize, range.upperBound)
            let bytes = try await blocking { [descriptor] in try descriptor.read(part) }
            guard bytes.count == part.count else {
                throw MediaFileError(.failed, "A media file is shorter than it was when it was opened.")
            }
            try await body(bytes)
            start = part.upperBound
        }
    }
}

/// A media file that is open for appending, by one task at a time.
package struct GrowingFile: Sendable {
    let descriptor: FileDescriptor
    let freeSpace: FreeSpaceGuard

    init(_ descriptor: FileDescriptor, _ freeSpace: FreeSpaceGuard) {
        self.descriptor = descriptor
        self.freeSpace = freeSpace
    }

    package func append(_ bytes: [UInt8]) async throws {
        try await blocking { try appendBlocking(bytes) }
    }

    /// The appended bytes are durable when this returns.
    package func sync() async throws {
        try await blocking { try syncBlocking() }
    }
}
