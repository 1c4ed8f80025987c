import Foundation
import Testing

/// Programs that the tests need, and speech that flite makes.
enum Flite {
    static let isInstalled = isInstalled("flite")
    static let hasRecognizer = isInstalled && isInstalled("pocketsphinx_continuous")

    private static func isInstalled(_ program: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    /// Speech of flite, at 16 kHz.
    static func say(_ words: String) throws -> [Int16] {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).wav")
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["flite", "-voice", "slt", "-t", words, "-o", file.path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let bytes = Array(try Data(contentsOf: file))
        // A header of 44 bytes, then samples.
        return stride(from: 44, to: bytes.count - 1, by: 2).map { Int16(bytes[$0]) | Int16(bytes[$0 + 1]) << 8 }
    }

    static func silence(_ seconds: Double) -> [Int16] { Array(repeating: 0, count: Int(seconds * 16_000)) }
}
