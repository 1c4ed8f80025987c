import ArgumentParser
import Foundation

/// A virtual user: a line of the output of `switchboard token`.
struct VirtualUser: Decodable, Sendable {
    var user: String
    var token: String

    /// Reads a file of users, or the standard input if the path is `-`.
    static func read(_ path: String) throws -> [VirtualUser] {
        let text: Data
        if path == "-" {
            text = FileHandle.standardInput.readDataToEndOfFile()
        } else {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw ValidationError("\(path) cannot be read.")
            }
            text = data
        }
        return try text.split(separator: UInt8(ascii: "\n")).enumerated().map { number, line in
            do {
                return try JSONDecoder().decode(VirtualUser.self, from: Data(line))
            } catch {
                throw ValidationError("Line \(number + 1) of \(path) is not from the output of `switchboard token`.")
            }
        }
    }
}

/// The address of the server under test.
struct TargetServer: Sendable {
    var host: String
    var port: Int

    init(_ address: String) throws {
        guard let components = URLComponents(string: address), components.scheme == "http",
            let host = components.host, !host.isEmpty
        else { throw ValidationError("\(address) is not an http address.") }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = components.port ?? 80
    }
}
