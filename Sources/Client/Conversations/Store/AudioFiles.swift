import Foundation
import Synchronization

/// The sounds of voice messages that wait to be sent: each in a file of a directory beside the store, or in memory if
/// the store is there.
final class AudioFiles: Sendable {
    private let directory: URL?
    private let memory = Mutex<[String: Data]>([:])

    /// - Parameter store: the path of the store; nil for memory.
    init(besides store: String?) { directory = store.map { Self.directory(of: URL(fileURLWithPath: $0)) } }

    /// The directory of a store's sounds.
    static func directory(of store: URL) -> URL { store.deletingPathExtension().appendingPathExtension("sounds") }

    /// Writes a sound: it is on the disk when this returns, or not at all.
    ///
    /// - Parameter name: A UUID.
    func write(_ sound: Data, as name: String) throws {
        guard let directory else { return memory.withLock { $0[name] = sound } }
        let files = FileManager.default
        try files.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let url = directory.appendingPathComponent(name)
        let isMade = files.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        guard isMade else { throw CocoaError(.fileWriteUnknown) }
        do {
            let file = try FileHandle(forWritingTo: url)
            defer { try? file.close() }
            try file.write(contentsOf: sound)
            try file.synchronize()
            // Of the directory: its new name too.
            let parent = try FileHandle(forReadingFrom: directory)
            defer { try? parent.close() }
            try parent.synchronize()
        } catch {
            try? files.removeItem(at: url)
            throw error
        }
    }

    /// A sound; nil if it is not there, or incomplete.
    ///
    /// - Parameter byteCount: Its size.
    func read(_ name: String, byteCount: Int) -> Data? {
        guard let directory else { return memory.withLock { $0[name] } }
        let sound = try? Data(contentsOf: directory.appendingPathComponent(name))
        return sound?.count == byteCount ? sound : nil
    }

    func remove(_ names: Set<String>) {
        guard let directory else { return memory.withLock { for name in names { $0[name] = nil } } }
        for name in names { try? FileManager.default.removeItem(at: directory.appendingPathComponent(name)) }
    }

    /// Removes all others.
    func keepOnly(_ names: Set<String>) {
        guard let directory else { return }
        let found = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        remove(Set(found).subtracting(names))
    }

    func erase() {
        memory.withLock { $0 = [:] }
        if let directory { try? FileManager.default.removeItem(at: directory) }
    }
}
