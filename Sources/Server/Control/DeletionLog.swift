import Accounts
import Foundation
import Model

/// Reads the deletions in a file of the audit log or of the server's log.
package enum DeletionLog {
    /// References in one control request, whose line is bounded.
    package static let batch = 1000
    private static let chunkSize = 1 << 20

    /// The ids of the deleted users, each once, in the order of the file. `-` is standard input.
    package static func users(inFile path: String) throws -> [String] {
        let file: FileHandle
        if path == "-" {
            file = .standardInput
        } else {
            guard let opened = FileHandle(forReadingAtPath: path) else {
                throw ConfigurationError("\(path) cannot be read: check the path and the rights to read it.")
            }
            file = opened
        }
        var users: [String] = []
        var seen: Set<UserID> = []
        var rest = Data()
        func take(_ line: Data) {
            guard line.count <= DeletionRecord.maxLineLength,
                let user = DeletionRecord.user(in: String(decoding: line, as: UTF8.self)), seen.insert(user).inserted
            else { return }
            users.append(user.text)
        }
        while let chunk = try file.read(upToCount: chunkSize), !chunk.isEmpty {
            rest += chunk
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                take(Data(rest[..<end]))
                rest = Data(rest[rest.index(after: end)...])
            }
            // A line that long is none of ours; what follows it is read as a line of its own.
            if rest.count > chunkSize { rest = Data() }
        }
        take(rest)
        return users
    }
}
