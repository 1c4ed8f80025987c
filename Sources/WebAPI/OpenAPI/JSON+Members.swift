extension JSON {
    /// The members of an object, in order; none of any other value.
    var members: [(String, JSON)] { if case .object(let members) = self { members } else { [] } }

    /// The elements of an array; none of any other value.
    var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

    /// The text of a string; nil for any other value.
    var string: String? { if case .text(let string) = self { string } else { nil } }

    /// The member of an object with this name.
    subscript(name: String) -> JSON? { members.first { $0.0 == name }?.1 }
}
