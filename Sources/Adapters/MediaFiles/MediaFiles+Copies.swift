internal import Glibc
package import Model
internal import Synchronization

/// How many files were copied, and how many were missing.
package struct MediaCopy: Sendable, Hashable {
    package var count = 0
    package var missing = 0

    package init() {}

    package static func += (left: inout Self, right: Self) {
        left.count += right.count
        left.missing += right.missing
    }
}

/// Defers the removal of files until it is released, while the files that a database snapshot names are copied.
package final class RemovalHold: Sendable {
    private struct State {
        var holds = 0
        var waiting: [String] = []
    }

    private let state = Mutex(State())

    init() {}

    fileprivate func begin() { state.withLock { $0.holds += 1 } }

    /// Releases one hold; the last release removes the deferred files.
    package func release() {
        let paths = state.withLock { state -> [String] in
            state.holds -= 1
            guard state.holds == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        // A file that cannot be removed has no row and is removed at the next start.
        for path in paths { unlink(path) }
    }

    /// Defers the removal of the file at `path` if there are holds. Returns whether it did.
    func deferRemoval(of path: String) -> Bool {
        state.withLock { state in
            guard state.holds > 0 else { return false }
            state.waiting.append(path)
            return true
        }
    }
}

extension MediaFiles {
    /// Defers all removals until `release` is called on the result.
    package func holdRemovals() -> RemovalHold {
        removals.begin()
        return removals
    }

    /// Creates the directory that files are copied to (mode 0700).
    package func prepareCopy(at path: String) throws {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw MediaFileError.failed(to: "make", path, errno) }
    }

    /// Links files into another directory, or copies them if it is on another file system. The copies are durable when
    /// this returns.
    package func copy(_ files: [FileID], to directory: String) async throws -> MediaCopy {
        try await blocking {
            var copied = MediaCopy()
            for file in files {
                if try copy(file, to: directory + "/" + file.text) { copied.count += 1 } else { copied.missing += 1 }
            }
            try FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY, to: "write").sync()
            return copied
        }
    }

    /// False if the file does not exist.
    private func copy(_ file: FileID, to target: String) throws -> Bool {
        let source = filePath(of: file)
        if link(source, target) == 0 { return true }
        switch errno {
        case ENOENT: return false
        case EXDEV, EPERM, EMLINK, EACCES, EOPNOTSUPP: break
        case let code: throw MediaFileError.failed(to: "write", target, code)
        }
        let stored = try FileDescriptor(opening: source, O_RDONLY, to: "read")
        let copy = try FileDescriptor(opening: target, O_WRONLY | O_CREAT | O_EXCL, to: "write")
        let (end, chunkSize) = (try stored.byteCount, 1 << 20)
        var position = 0
        while position < end {
            let bytes = try stored.read(position..<min(position + chunkSize, end))
            guard !bytes.isEmpty else { break }
            try copy.write(bytes)
            position += bytes.count
        }
        try copy.sync()
        return true
    }
}
