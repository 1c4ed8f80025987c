internal import Glibc
package import Model

// The same for threads that are there to be blocked, such as one that works on files for minutes.
extension MediaFiles {
    /// As `open`, which is for tasks.
    package func openBlocking(_ file: FileID) throws -> StoredFile {
        try StoredFile(FileDescriptor(opening: place(of: file), O_RDONLY, to: "read"))
    }

    /// As `append`, which is for tasks.
    package func appendBlocking(to file: FileID) throws -> GrowingFile {
        try room.check()
        let descriptor = try FileDescriptor(
            opening: place(of: file), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, to: "write")
        try syncDirectory()
        return GrowingFile(descriptor, room)
    }
}

extension StoredFile {
    /// So many bytes from there on; fewer where the file ends.
    package func readBlocking(from start: Int, count: Int) throws -> [UInt8] {
        try descriptor.read(start..<max(start, min(start + count, byteCount)))
    }
}

extension GrowingFile {
    package func appendBlocking(_ bytes: [UInt8]) throws {
        try room.check()
        try descriptor.write(bytes)
    }

    package func syncBlocking() throws { try descriptor.sync() }
}
