internal import Foundation

// Short lists in a column of text, which is NULL for none, as most are.
extension StoreTransaction {
    static func text(of array: [some Encodable]) throws -> String? { array.isEmpty ? nil : try json(array) }

    static func array<Element: Decodable>(_ text: String?) throws -> [Element] {
        guard let text else { return [] }
        return try JSONDecoder().decode([Element].self, from: Data(text.utf8))
    }
}
