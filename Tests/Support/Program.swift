import Foundation

/// A program of the machine that a test runs.
package enum Program {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package static func isInstalled(_ name: String) -> Bool { path(of: name) != nil }

    /// Runs it and returns its output, without the white space around it.
    @discardableResult
    package static func run(_ name: String, _ arguments: [String]) throws -> String {
        guard let path = path(of: name) else { throw Failure(description: "\(name) is not installed") }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(name) ended with \(process.terminationStatus)")
        }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func path(of name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
