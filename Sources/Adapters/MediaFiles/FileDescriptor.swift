internal import Glibc

/// An open file, closed with the last reference to it. Its calls block.
final class FileDescriptor: Sendable {
    private let number: CInt
    private let path: String

    init(opening path: String, _ flags: CInt, to verb: String) throws {
        number = open(path, flags | O_CLOEXEC, 0o600)
        self.path = path
        guard number >= 0 else { throw MediaFileError.failed(to: verb, path, errno) }
    }

    deinit { if number >= 0 { close(number) } }

    var byteCount: Int {
        get throws {
            var status = stat()
            guard fstat(number, &status) == 0 else { throw MediaFileError.failed(to: "read", path, errno) }
            return Int(status.st_size)
        }
    }

    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Glibc.write(number, rest.baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw MediaFileError.failed(to: "write", path, written < 0 ? errno : ENOSPC) }
                rest = rest.dropFirst(written)
            }
        }
    }

    func sync() throws {
        guard fsync(number) == 0 else { throw MediaFileError.failed(to: "write", path, errno) }
    }

    /// Reads a range of bytes; fewer if the file ends before.
    func read(_ range: Range<Int>) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
            while filled < range.count {
                let start = buffer.baseAddress.map { $0 + filled }
                let count = pread(number, start, range.count - filled, off_t(range.lowerBound + filled))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw MediaFileError.failed(to: "read", path, errno) }
                if count == 0 { return }
                filled += count
            }
        }
    }
}

extension Slice where Base == UnsafeRawBufferPointer {
    fileprivate var baseAddress: UnsafeRawPointer? { UnsafeRawBufferPointer(rebasing: self).baseAddress }
}
