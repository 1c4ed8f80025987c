import Foundation

/// Generates UUIDs as they are written in JSON.
enum UUIDText {
    static func make() -> String { UUID().uuidString.lowercased() }
}
