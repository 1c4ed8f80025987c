package import Accounts
import FoundationEssentials
package import Model

/// A request to an operation, over REST or realtime.
package struct OperationRequest: Sendable {
    package var principal: Principal?
    /// The server key of an operation that requires one, or that of an operator's session.
    package var key: KeyPrincipal?
    /// The token of an operator's session.
    var operatorToken: String?
    /// Path and query parameters by name.
    package var parameters: [String: String]
    /// The JSON body; empty if there is none.
    package var body: [UInt8]
    /// What the body may be, for errors that say which values are allowed.
    var bodySchema: Schema?
    /// The client's address for rate limits.
    package var clientAddress: String
    /// The host that the client addressed, without the port, if known.
    package var host: String?
    /// Whether the client asks for an event stream instead of JSON, which only REST has.
    var wantsEvents = false

    package init(
        principal: Principal?, parameters: [String: String], body: [UInt8], clientAddress: String, host: String? = nil
    ) {
        self.principal = principal
        self.parameters = parameters
        self.body = body
        self.clientAddress = clientAddress
        self.host = host
    }

    /// The principal of an operation that requires one.
    func requirePrincipal() throws -> Principal {
        guard let principal else {
            throw Problem.noAccessToken
        }
        return principal
    }

    func requireKey() throws -> KeyPrincipal {
        guard let key else { throw ServerKeyRefusal.missing.problem }
        return key
    }

    /// The principal with its endpoint, for operations of clients.
    func requireEndpoint() throws -> Principal {
        let principal = try requirePrincipal()
        guard principal.endpoint != nil else {
            throw Problem(
                .invalidRequest, "Name the endpoint: `Switchboard-Endpoint: <id> <secret>`.",
                field: "Switchboard-Endpoint")
        }
        return principal
    }

    func identifier<Entity>(_ name: String, of type: Identifier<Entity>.Type = Identifier<Entity>.self) throws
        -> Identifier<Entity>
    {
        guard let text = parameters[name] else { throw Problem.invalid(name, "\(name) is missing.") }
        guard let identifier = Identifier<Entity>(text) else { throw Problem.invalid(name, "\(name) must be a UUID.") }
        return identifier
    }

    func integer(_ name: String, in range: ClosedRange<Int>, default defaultValue: Int) throws -> Int {
        guard let text = parameters[name] else { return defaultValue }
        guard let number = Int(text), range.contains(number) else {
            throw Problem.invalid(
                name, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Decodes the body. Its error names the member that is wrong.
    func decode<Body: Decodable>(_ type: Body.Type) throws -> Body {
        try decodeBody { try $0.decode(type, from: $1) }
    }

    func decode<Body: DecodableWithConfiguration>(
        _ type: Body.Type, configuration: Body.DecodingConfiguration
    ) throws -> Body {
        try decodeBody { try $0.decode(type, from: $1, configuration: configuration) }
    }

    private func decodeBody<Body>(_ decode: (JSONDecoder, Data) throws -> Body) throws -> Body {
        do {
            return try decode(JSONDecoder(), Data(body.isEmpty ? Array("{}".utf8) : body))
        } catch let error as DecodingError {
            throw Self.problem(for: error, schema: bodySchema)
        }
    }

    private static func problem(for error: DecodingError, schema: Schema?) -> Problem {
        func fieldPath(_ path: [any CodingKey]) -> String {
            path.reduce(into: "") { text, key in
                if let index = key.intValue {
                    text += "[\(index)]"
                } else {
                    text += (text.isEmpty ? "" : ".") + key.stringValue
                }
            }
        }
        switch error {
        case .keyNotFound(let key, let context):
            let field = fieldPath(context.codingPath + [key])
            return .invalid(field, "\(field) is missing.")
        case .valueNotFound(_, let context):
            let field = fieldPath(context.codingPath)
            return .invalid(field, "\(field) must not be null.")
        case .typeMismatch(let type, let context):
            let field = fieldPath(context.codingPath)
            return .invalid(
                field.isEmpty ? "body" : field, "\(field.isEmpty ? "The body" : field) must be \(typeName(for: type)).")
        case .dataCorrupted(let context):
            let field = fieldPath(context.codingPath)
            if let choices = schema?.choices(at: context.codingPath[...]) {
                return .invalid(field, "\(field) is one of \(choices.joined(separator: ", ")).")
            }
            return field.isEmpty
                ? .invalid("body", "The body must be a JSON object.")
                : .invalid(field, "\(field) \(context.debugDescription).")
        @unknown default: return .invalid("body", "The body does not match this request.")
        }
    }

    private static func typeName(for type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [Any].Type: "a list"
        default: String(describing: type).hasPrefix("Array") ? "a list" : "an object"
        }
    }
}
