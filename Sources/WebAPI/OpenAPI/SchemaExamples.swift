/// Makes an example of a schema: its required members, or all if none is required, each with a typical value. An example
/// is therefore true to its schema, which a table of examples beside it would not stay.
struct SchemaExamples {
    static let identifier = "019a3c5e-7b1d-7c40-9f2a-5d8e6b0c4a17"
    static let requestID = "0af7651916cd43dd8448eb211c80319c"
    /// Schemas are nested less deeply than this, so only a cycle reaches it.
    private static let maximumDepth = 16

    private let schemas: [String: Schema]

    init(_ schemas: [(String, Schema)]) {
        self.schemas = Dictionary(schemas, uniquingKeysWith: { first, _ in first })
    }

    /// The schema that a reference names, or the schema itself.
    func resolve(_ schema: Schema) -> Schema {
        guard case .named(let name) = schema, let named = schemas[name] else { return schema }
        return named
    }

    func example(of schema: Schema) -> JSON { example(of: schema, as: "", depth: 0) }

    /// - Parameter name: of the member that has the value, which tells what the text is about.
    private func example(of schema: Schema, as name: String, depth: Int) -> JSON {
        guard depth < Self.maximumDepth else { return .null }
        func inner(_ schema: Schema, as name: String) -> JSON { example(of: schema, as: name, depth: depth + 1) }
        switch schema {
        case .text: return .text(Self.texts[name] ?? "text")
        case .identifier: return .text(Self.identifier)
        case .time: return "2026-01-31T09:30:00.000Z"
        case .integer(let range): return .integer(range.map { min(max(1, $0.lowerBound), $0.upperBound) } ?? 1)
        case .number(let range): return .number(range.map { min(max(1, $0.lowerBound), $0.upperBound) } ?? 1)
        case .boolean: return false
        case .null: return .null
        case .choice(let choices): return choices.first.map { .text($0) } ?? .null
        case .list(let element, let minimum, _):
            return .array(Array(repeating: inner(element, as: name), count: max(1, minimum ?? 1)))
        // Their names are sections of descriptions.
        case .map(let element): return .object([("0", inner(element, as: name))])
        case .object(let members):
            let required = members.filter(\.isRequired)
            return .object((required.isEmpty ? members : required).map { ($0.name, inner($0.schema, as: $0.name)) })
        case .either(let schemas): return schemas.first.map { inner($0, as: name) } ?? .null
        case .named(let name):
            return Self.documents[name] ?? schemas[name].map { inner($0, as: Self.textName(of: name)) } ?? .null
        case .anything, .bytes: return .object([])
        }
    }

    /// `Caption` is about its `text`: a component with one value has the name of a member.
    private static func textName(of component: String) -> String {
        component.prefix(1).lowercased() + component.dropFirst()
    }

    private static let documents: [String: JSON] = [
        "Position": .array(["e1", 18]),
        "Positions": .object([("user:\(identifier)", .array(["e1", 18]))]),
        "QuietHours": .object([("from", "22:00"), ("to", "07:00"), ("zone", "Europe/Berlin")]),
    ]

    /// By the name of the member.
    private static let texts: [String: String] = [
        "accessToken": "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl",
        "candidate": "candidate:1 1 udp 2130706431 192.0.2.1 50000 typ host",
        "contentType": "audio/ogg",
        "currentPassword": "correct horse battery staple",
        "detail": "call must be a UUID.",
        "displayName": "Ann",
        "email": "ann@example.com",
        "language": "en",
        "languages": "en",
        "mid": "0",
        "name": "Firefox",
        "newPassword": "a new horse battery staple",
        "password": "correct horse battery staple",
        "platform": "web",
        "refreshToken": "c2VjcmV0LXJlZnJlc2gtdG9rZW4",
        "request": requestID,
        "sdp": "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\n",
        "text": "Hello",
        "token": "c2VjcmV0LWxpbmstdG9rZW4tb2YtNDMtY2hhcmFjdGU",
        "kind": "contact",
        "title": "The request is not valid",
        "url": "/v1/media/\(identifier)?user=\(identifier)&expires=1769852000&signature=c2lnbmF0dXJl",
        "urls": "turn:192.0.2.1:3478",
    ]
}

extension Schema {
    /// The members, if it is an object.
    var objectMembers: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}
