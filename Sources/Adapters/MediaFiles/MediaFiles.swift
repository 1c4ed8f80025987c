internal import Glibc
package import Model
internal import NIOPosix

/// The directory of media: voice messages, and what else people made that is too large for the database.
///
/// A file is named by its id alone, so that nothing a client says reaches the file system, and never changes once it is
/// whole. Until then it has another name, under which a crash leaves it to the sweep of the next start. Only what is
/// written while it happens grows under its own name: there every second counts that a crash does not take.
///
/// Disks block, so all of it happens on threads that are there to be blocked. Errors are `MediaFileError`.
package struct MediaFiles: Sendable {
    private static let unfinished = ".part"
    private let path: String
    let room: DiskRoom
    let removals = RemovalHold()

    /// Makes the directory when it is missing (mode 0700) and removes what a crash left unfinished.
    ///
    /// - Parameter minFreeBytes: less on its disk is as good as nothing: what would write fails with `full`.
    package init(path: String, minFreeBytes: Int = 0) throws {
        self.path = path
        room = DiskRoom(path: path, minFreeBytes: minFreeBytes)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw MediaFileError.failed(to: "make", path, errno) }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw MediaFileError.failed(to: "write", path, errno) }
        for name in try Self.names(in: path) where name.hasSuffix(Self.unfinished) { unlink(path + "/" + name) }
    }

    /// A directory that is only read from, as that of a backup.
    package init(reading path: String) {
        self.path = path
        room = DiskRoom(path: path, minFreeBytes: 0)
    }

    /// - Throws: where there is no room for more.
    package func checkRoom() async throws { try await blocking { try room.check() } }

    /// Writes a whole file, which is there for good when this returns, or not at all.
    package func write(_ bytes: [UInt8], as file: FileID) async throws {
        try await blocking {
            try room.check()
            let temporary = place(of: file) + Self.unfinished
            do {
                let descriptor = try FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_TRUNC, to: "write")
                try descriptor.write(bytes)
                try descriptor.sync()
                guard rename(temporary, place(of: file)) == 0 else {
                    throw MediaFileError.failed(to: "write", place(of: file), errno)
                }
                try syncDirectory()
            } catch {
                unlink(temporary)
                throw error
            }
        }
    }

    /// Makes a file that grows: for what is recorded while it happens.
    package func append(to file: FileID) async throws -> GrowingFile {
        try await blocking { try appendBlocking(to: file) }
    }

    /// Opens a file to read. One that is removed meanwhile is read to its end.
    package func open(_ file: FileID) async throws -> StoredFile {
        try await blocking { try openBlocking(file) }
    }

    /// Removes a file, later where removals are held; one that is not there is no error.
    package func remove(_ file: FileID) async throws {
        try await blocking {
            if removals.takes(place(of: file)) { return }
            guard unlink(place(of: file)) == 0 || errno == ENOENT else {
                throw MediaFileError.failed(to: "remove", place(of: file), errno)
            }
        }
    }

    /// Every file that is there.
    package func all() async throws -> [FileID] {
        try await blocking { try Self.names(in: path).compactMap { FileID($0) } }
    }

    func place(of file: FileID) -> String { path + "/" + file.text }

    /// A name is as durable as the directory that it stands in.
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

/// Runs what blocks, where it may.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(work)
}
