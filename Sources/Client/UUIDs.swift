import Foundation

/// A new random UUID in lower case, as ids are written here.
func newUUID() -> String { UUID().uuidString.lowercased() }
