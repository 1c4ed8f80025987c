internal import Glibc

/// Keeps a minimum of free space on the disk, so that other programs do not run into a full disk.
struct FreeSpaceGuard: Sendable {
    let path: String
    let minFreeBytes: Int

    /// - Throws: `MediaFileError` of kind `full`. If the file system reports no free space, the check passes.
    func check() throws {
        guard minFreeBytes > 0 else { return }
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return }
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard !free.overflow, free.partialValue < UInt64(minFreeBytes) else { return }
        throw MediaFileError(
            .full,
            "\(free.partialValue) bytes are free on the disk of \(path), and media.minFreeBytes is \(minFreeBytes). "
                + "Make room there, or move storage.path to another disk.")
    }
}
