/// A media file that is open to be read, for as long as anybody holds it.
package struct StoredFile: Sendable {
    /// So much is read at a time: large enough that a disk is asked rarely, small enough to be of no weight.
    private static let chunk = 64 * 1024

    package let byteCount: Int
    let descriptor: FileDescriptor

    init(_ descriptor: FileDescriptor) throws {
        self.descriptor = descriptor
        byteCount = try descriptor.byteCount
    }

    /// Hands the bytes of a range over in pieces, each when the one before was taken.
    package func read(_ range: Range<Int>, _ take: ([UInt8]) async throws -> Void) async throws {
        var start = range.lowerBound
        while start < range.upperBound {
            let part = start..<min(start + Self.chunk, range.upperBound)
            let bytes = try await blocking { [descriptor] in try descriptor.read(part) }
            guard bytes.count == part.count else {
                throw MediaFileError(.failed, "A media file is shorter than it was when it was opened.")
            }
            try await take(bytes)
            start = part.upperBound
        }
    }
}

/// A media file that is written while it happens. One task at a time appends.
package struct GrowingFile: Sendable {
    let descriptor: FileDescriptor
    let room: DiskRoom

    init(_ descriptor: FileDescriptor, _ room: DiskRoom) {
        self.descriptor = descriptor
        self.room = room
    }

    package func append(_ bytes: [UInt8]) async throws {
        try await blocking { try appendBlocking(bytes) }
    }

    /// What was appended is there for good when this returns.
    package func sync() async throws {
        try await blocking { try syncBlocking() }
    }
}
