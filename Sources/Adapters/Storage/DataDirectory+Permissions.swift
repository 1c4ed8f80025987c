internal import Glibc

extension DataDirectory {
    /// How many files are looked at: at some microseconds each, a start is not noticeably delayed.
    private static let fileLimit = 100_000
    /// The directory itself, and the media files in a directory of it.
    private static let depthLimit = 2
    private static let othersBits: mode_t = 0o077

    /// Takes the rights of other users away, which earlier versions and other programs may have left them: files get
    /// 0600, directories 0700.
    ///
    /// Only what belongs to this process's user changes, and nothing of a shared directory such as `/tmp`. Symbolic links
    /// are not followed. What cannot be changed stays as it is: the directory's own mode keeps others out.
    func restrictPermissions() {
        var status = stat()
        guard stat(path, &status) == 0, status.st_uid == geteuid(), status.st_mode & S_ISVTX == 0 else { return }
        if status.st_mode & Self.othersBits != 0 { chmod(path, status.st_mode & 0o7777 & ~Self.othersBits) }
        var left = Self.fileLimit
        Self.restrict(in: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), depth: 1, left: &left)
    }

    /// - Parameter descriptor: of a directory, closed on return.
    private static func restrict(in descriptor: CInt, depth: Int, left: inout Int) {
        guard descriptor >= 0 else { return }
        guard let directory = fdopendir(descriptor) else {
            Glibc.close(descriptor)
            return
        }
        defer { closedir(directory) }
        while left > 0, let entry = readdir(directory) {
            left -= 1
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            guard name != ".", name != "..", fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_uid == geteuid()
            else { continue }
            let kind = status.st_mode & S_IFMT
            guard [S_IFREG, S_IFDIR, S_IFSOCK].contains(kind) else { continue }
            if status.st_mode & othersBits != 0 {
                fchmodat(descriptor, name, status.st_mode & 0o7777 & ~othersBits, 0)
            }
            if kind == S_IFDIR, depth < depthLimit {
                restrict(
                    in: openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth: depth + 1,
                    left: &left)
            }
        }
    }
}
