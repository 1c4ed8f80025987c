/// HTML that is written piece by piece; all text is escaped.
struct HTML: Sendable {
    private(set) var markup = ""

    init() {}

    /// - Parameter text: what is shown as it stands.
    init(_ text: String) { markup = Self.escaped(text) }

    /// Text as content or as the value of an attribute.
    static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    mutating func add(_ text: String) { markup += Self.escaped(text) }

    mutating func add(_ other: HTML) { markup += other.markup }

    /// Markup of our own, such as the beginning of a document.
    mutating func add(markup: String) { self.markup += markup }

    mutating func element(
        _ name: String, _ attributes: [(String, String)] = [], _ content: (inout HTML) -> Void
    ) {
        begin(name, attributes)
        content(&self)
        markup += "</\(name)>"
    }

    mutating func element(_ name: String, _ attributes: [(String, String)], _ text: String) {
        element(name, attributes) { $0.add(text) }
    }

    mutating func element(_ name: String, _ attributes: [(String, String)], _ content: HTML) {
        element(name, attributes) { $0.add(content) }
    }

    mutating func element(_ name: String, _ text: String) { element(name, [], text) }

    mutating func element(_ name: String, _ content: HTML) { element(name, [], content) }

    /// An element without content, such as `meta`.
    mutating func void(_ name: String, _ attributes: [(String, String)] = []) { begin(name, attributes) }

    mutating func link(_ address: String, _ text: String) { element("a", [("href", address)], text) }

    mutating func code(_ text: String) { element("code", text) }

    private mutating func begin(_ name: String, _ attributes: [(String, String)]) {
        markup += "<\(name)"
        for (name, value) in attributes { markup += " \(name)=\"\(Self.escaped(value))\"" }
        markup += ">"
    }
}
