internal import Glibc
package import Model

// Blocking variants, for threads that may block, such as one that processes files for minutes.
extension MediaFiles {
    /// The blocking variant of `open`.
    package func openBlocking(_ file: FileID) throws -> StoredFile {
        try StoredFile(FileDescriptor(opening: filePath(of: file), O_RDONLY, to: "read"))
    }

    /// The blocking variant of `append`.
    package func appendBlocking(to file: FileID) throws -> GrowingFile {
        try freeSpace.check()
        let descriptor = try FileDescriptor(
            opening: filePath(of: file), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, to: "write")
        try syncDirectory()
        return GrowingFile(descriptor, freeSpace)
    }
}

extension StoredFile {
    /// Reads `count` bytes from `start`; fewer if the file ends before.
    package func readBlocking(from start: Int, count: Int) throws -> [UInt8] {
        try descriptor.read(start..<max(start, min(start + count, byteCount)))
    }
}

extension GrowingFile {
    package func appendBlocking(_ bytes: [UInt8]) throws {
        try freeSpace.check()
        try descriptor.write(bytes)
    }

    package func syncBlocking() throws { try descriptor.sync() }
}
