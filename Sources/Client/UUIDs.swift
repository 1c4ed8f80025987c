import Foundation

/// A new random UUID in lower case.
func newUUID() -> String { UUID().uuidString.lowercased() }
