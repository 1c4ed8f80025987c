internal import Glibc
package import Model
internal import NIOPosix

/// The media directory: voice messages, recordings and other user files that are too large for the database.
///
/// A file is named by its id alone, so that no client input reaches the file system, and is immutable once it is
/// complete. Until then it has a temporary name, and the next start removes it after a crash. Only recordings in
/// progress grow under their final name, so that a crash loses as little of them as possible.
///
/// Disk access blocks, so it runs on threads that may block. Errors are `MediaFileError`.
package struct MediaFiles: Sendable {
    private static let unfinished = ".part"
    private let path: String
    let freeSpace: FreeSpaceGuard
    let removals = RemovalHold()

    /// Creates the directory if it is missing (mode 0700) and removes files that a crash left unfinished.
    ///
    /// - Parameter minFreeBytes: with less free space on its disk, writes fail with `full`.
    package init(path: String, minFreeBytes: Int = 0) throws {
        self.path = path
        freeSpace = FreeSpaceGuard(path: path, minFreeBytes: minFreeBytes)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw MediaFileError.failed(to: "make", path, errno) }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw MediaFileError.failed(to: "write", path, errno) }
        for name in try Self.names(in: path) where name.hasSuffix(Self.unfinished) { unlink(path + "/" + name) }
    }

    /// A read-only directory, such as that of a backup.
    package init(reading path: String) {
        self.path = path
        freeSpace = FreeSpaceGuard(path: path, minFreeBytes: 0)
    }

    /// - Throws: if there is not enough free space.
    package func checkFreeSpace() async throws { try await blocking { try freeSpace.check() } }

    /// Writes a file atomically; it is durable when this returns.
    package func write(_ bytes: [UInt8], as file: FileID) async throws {
        try await blocking {
            try freeSpace.check()
            let temporary = filePath(of: file) + Self.unfinished
            do {
                let descriptor = try FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_TRUNC, to: "write")
                try descriptor.write(bytes)
                try descriptor.sync()
                guard rename(temporary, filePath(of: file)) == 0 else {
                    throw MediaFileError.failed(to: "write", filePath(of: file), errno)
                }
                try syncDirectory()
            } catch {
                unlink(temporary)
                throw error
            }
        }
    }

    /// Creates a file to append to, for recordings in progress.
    package func append(to file: FileID) async throws -> GrowingFile {
        try await blocking { try appendBlocking(to: file) }
    }

    /// Opens a file for reading. It stays readable if it is removed meanwhile.
    package func open(_ file: FileID) async throws -> StoredFile {
        try await blocking { try openBlocking(file) }
    }

    /// Removes a file, or defers that while removals are held; a missing file is no error.
    package func remove(_ file: FileID) async throws {
        try await blocking {
            if removals.deferRemoval(of: filePath(of: file)) { return }
            guard unlink(filePath(of: file)) == 0 || errno == ENOENT else {
                throw MediaFileError.failed(to: "remove", filePath(of: file), errno)
            }
        }
    }

    /// The ids of all files.
    package func all() async throws -> [FileID] {
        try await blocking { try Self.names(in: path).compactMap { FileID($0) } }
    }

    func filePath(of file: FileID) -> String { path + "/" + file.text }

    /// Makes the names in the directory durable.
    func syncDirectory() throws {
        try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY, to: "write").sync()
    }

    private static func names(in path: String) throws -> [String] {
        guard let directory = opendir(path) else { throw MediaFileError.failed(to: "list", path, errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { name in
                    String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}

/// Runs blocking work on the thread pool.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(work)
}
