import Foundation

/// UUIDs as ids are written in JSON.
enum UUIDText {
    static func make() -> String { UUID().uuidString.lowercased() }
}
