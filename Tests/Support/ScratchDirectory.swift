import Foundation

/// A directory of a test's own. All of them go when the test process ends: databases open connections late, so that an
/// object's lifetime would take a directory away too early. Tests that write much remove theirs themselves.
package struct ScratchDirectory: Sendable {
    package let path: String

    package init() throws {
        path = Self.base + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    package var database: String { file("switchboard.db") }

    package func file(_ name: String) -> String { path + "/" + name }

    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static let base: String = {
        atexit { try? FileManager.default.removeItem(atPath: ScratchDirectory.root) }
        return root
    }()
    private static let root = FileManager.default.temporaryDirectory.path + "/switchboard-tests-\(getpid())"
}
