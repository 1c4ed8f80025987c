import Foundation

/// Tests that the disks of the data directory and of the media files have the space that media.minFreeBytes keeps free.
struct StorageProbe: Sendable {
    let directory: String
    /// media.minFreeBytes.
    let minFreeBytes: Int64

    func run() -> CheckOutcome {
        guard FileManager.default.fileExists(atPath: directory) else {
            return .failed(
                CheckProblem(
                    "there is no directory \(directory)",
                    remedy: "Start the server, which makes it, or correct storage.path."))
        }
        // Media may be mounted on a disk of their own.
        let paths = [directory, directory + "/media"].filter { FileManager.default.fileExists(atPath: $0) }
        return evaluate(paths.compactMap { path in Self.freeBytes(path).map { (path, $0) } })
    }

    /// - Parameter free: the free bytes of each path.
    func evaluate(_ free: [(path: String, bytes: Int64)]) -> CheckOutcome {
        guard let least = free.min(by: { $0.bytes < $1.bytes }) else {
            return .passed("the file system of \(directory) does not say how much is free")
        }
        guard least.bytes >= minFreeBytes else {
            return .failed(
                CheckProblem(
                    "\(Self.text(least.bytes)) are free on the disk of \(least.path), and media.minFreeBytes is "
                        + "\(Self.text(minFreeBytes)), so nothing more is recorded or uploaded",
                    remedy: "Make room there, or move storage.path to another disk."))
        }
        let detail = "\(Self.text(least.bytes)) are free on the disk of \(least.path)"
        // With twice the floor, what remains is less than the floor itself.
        guard least.bytes / 2 >= minFreeBytes else {
            return .passed(
                detail,
                warnings: [
                    "Only \(Self.text(least.bytes)) are free on the disk of \(least.path): with less than "
                        + "\(Self.text(minFreeBytes)) (media.minFreeBytes) nothing more is recorded or uploaded."
                ])
        }
        return .passed(detail)
    }

    private static func freeBytes(_ path: String) -> Int64? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }

    private static func text(_ bytes: Int64) -> String {
        bytes < 10_000_000 ? "\(bytes) bytes" : "\(bytes / 1_000_000) MB"
    }
}
