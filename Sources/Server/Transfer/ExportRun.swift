import Foundation
import Services

/// Writes an export to a file, and the sounds of its voice messages to a folder beside it.
package enum ExportRun {
    /// - Parameters:
    ///   - path: of a file that does not exist. It has its name once it is complete.
    ///   - user: by e-mail address, id or `ext:<id>`: the conversations as that user sees them.
    ///   - send: has a request handled.
    /// - Returns: the number of lines.
    package static func run(
        to path: String, conversation: String?, user: String?,
        _ send: (ControlRequest) async throws -> ControlResponse
    ) async throws -> Int {
        let manager = FileManager.default
        guard !manager.fileExists(atPath: path) else { throw ImportError("\(path) exists already.") }
        let scope: ExportScope = try decoded(
            lines(await send(.exportBegin(conversation: conversation, user: user))).first ?? "")
        let unfinished = path + ".part"
        let folder = AudioFolder.path(of: path)
        let unfinishedFolder = folder + ".part"
        guard !manager.fileExists(atPath: folder) else { throw ImportError("\(folder) exists already.") }
        try? manager.removeItem(atPath: unfinishedFolder)
        guard manager.createFile(atPath: unfinished, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: unfinished)
        else { throw ImportError("\(unfinished) cannot be written.") }
        do {
            var (count, cursor) = (0, ExportCursor?.none)
            repeat {
                let response = try lines(await send(.exportPage(scope: scope, cursor: cursor)))
                let next = response.first ?? ""
                cursor = next.isEmpty ? nil : try decoded(next)
                for line in response.dropFirst() {
                    try file.write(contentsOf: Data((line + "\n").utf8))
                    guard let sound = AudioFolder.sound(in: Array(line.utf8)) else { continue }
                    try await AudioFolder.write(sound.name, to: unfinishedFolder, send)
                }
                count += response.count - 1
            } while cursor != nil
            try file.synchronize()
            try file.close()
            if manager.fileExists(atPath: unfinishedFolder) {
                try manager.moveItem(atPath: unfinishedFolder, toPath: folder)
            }
            try manager.moveItem(atPath: unfinished, toPath: path)
            return count
        } catch {
            try? manager.removeItem(atPath: unfinished)
            try? manager.removeItem(atPath: unfinishedFolder)
            throw error
        }
    }

    private static func lines(_ response: ControlResponse) throws -> [String] {
        if let error = response.error { throw ImportError(error) }
        return response.lines
    }

    private static func decoded<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
