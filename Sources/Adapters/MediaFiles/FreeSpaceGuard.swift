internal import Glibc

/// How much of the disk is to stay free, so that a full one is no surprise to everything else that lives there.
struct DiskRoom: Sendable {
    let path: String
    let minFreeBytes: Int

    /// - Throws: `MediaFileError` of the kind `full`. Where the disk does not say, there is room.
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
