import Foundation

enum StandardError {
    static func write(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}

enum Environment {
    static var current: [String: String] { ProcessInfo.processInfo.environment }
}
