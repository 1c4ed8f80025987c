import Foundation
import Transfer

/// The folder with the sounds of voice messages, beside a file of JSON Lines: `team.files` of `team.jsonl`.
enum AudioFolder {
    /// Bytes that are sent at a time; they are longer in Base64, and a control request has at most 4 MiB.
    private static let part = 1 << 20

    static func path(of file: String) -> String {
        URL(filePath: file).deletingPathExtension().path + ".files"
    }

    /// The message of a line that has a sound, and the sound's name; nil of other lines.
    static func sound(in line: [UInt8]) -> (message: String, name: String, source: String?)? {
        // Most lines have none, and need not be read.
        guard String(decoding: line, as: UTF8.self).contains(#""voice""#), let read = try? TransferReader.read(line),
            case .message(let message) = read.record, let name = message.voice?.file
        else { return nil }
        return (message.id, name, read.source)
    }

    /// Writes a sound of the server to a folder, which is made if it is not there. One that is gone is left out.
    static func write(
        _ name: String, to folder: String, _ send: (ControlRequest) async throws -> ControlResponse
    ) async throws {
        let manager = FileManager.default
        var file: FileHandle?
        defer { try? file?.close() }
        var offset = 0
        while true {
            let response = try await send(.exportSound(file: name, offset: offset))
            if let error = response.error { throw ImportError(error) }
            guard let text = response.lines.first, let bytes = Data(base64Encoded: text), !bytes.isEmpty else { break }
            if file == nil {
                try manager.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                let path = folder + "/" + name
                guard manager.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
                    let opened = FileHandle(forWritingAtPath: path)
                else { throw ImportError("\(path) cannot be written.") }
                file = opened
            }
            try file?.write(contentsOf: bytes)
            offset += bytes.count
        }
        try file?.synchronize()
    }

    /// What became of a sound that is imported.
    enum Outcome {
        case made(String)
        /// Its message was imported before.
        case known
        /// There is no such file.
        case missing
        case refused(String)
    }

    /// Sends a sound from a folder to the server.
    static func send(
        _ name: String, of message: String, _ source: String, from folder: String,
        _ send: (ControlRequest) async throws -> ControlResponse
    ) async throws -> Outcome {
        guard let file = FileHandle(forReadingAtPath: folder + "/" + name) else { return .missing }
        defer { try? file.close() }
        let total = Int(try file.seekToEnd())
        try file.seek(toOffset: 0)
        var offset = 0
        while true {
            let bytes = try file.read(upToCount: part) ?? Data()
            guard !bytes.isEmpty else { return .refused("The file is empty, or has changed while it was read.") }
            let response = try await send(
                .importSound(
                    source: source, message: message, offset: offset, total: total, part: bytes.base64EncodedString()))
            if let error = response.error {
                throw ImportError("\(error) Run the import again: it goes on where it stopped.")
            }
            let line = response.lines.first ?? ""
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (words.first, words.dropFirst().first) {
            case ("known", nil): return .known
            case ("made", let file?): return .made(file)
            case ("refused", let reason?): return .refused(reason)
            case ("more", nil): offset += bytes.count
            default: throw ImportError("The server is of another version.")
            }
        }
    }
}
