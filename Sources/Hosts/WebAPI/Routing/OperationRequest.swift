import FoundationEssentials
package import Model

/// A request as an operation sees it, whichever door it came through.
package struct OperationRequest: Sendable {
    package var principal: Principal?
    /// Path and query parameters by name.
    package var parameters: [String: String]
    /// The JSON body; empty when there is none.
    package var body: [UInt8]
    /// The client's address as limits count it.
    package var clientAddress: String
    /// The host that the client addressed, without the port, when it said one.
    package var host: String?

    package init(
        principal: Principal?, parameters: [String: String], body: [UInt8], clientAddress: String, host: String? = nil
    ) {
        self.principal = principal
        self.parameters = parameters
        self.body = body
        self.clientAddress = clientAddress
        self.host = host
    }

    /// The principal of an operation that asks for one.
    func requirePrincipal() throws -> Principal {
        guard let principal else {
            throw Problem.noAccessToken
        }
        return principal
    }

    /// The principal with its endpoint, for what only a running client can do.
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

    func integer(_ name: String, in range: ClosedRange<Int>, default standard: Int) throws -> Int {
        guard let text = parameters[name] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw Problem.invalid(
                name, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Decodes the body, and says which member is wrong when it cannot.
    func decode<Body: Decodable>(_ type: Body.Type) throws -> Body {
        do {
            return try JSONDecoder().decode(type, from: Data(body.isEmpty ? Array("{}".utf8) : body))
        } catch let error as DecodingError {
            throw Self.problem(for: error)
        }
    }

    private static func problem(for error: DecodingError) -> Problem {
        func place(_ path: [any CodingKey]) -> String {
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
            let field = place(context.codingPath + [key])
            return .invalid(field, "\(field) is missing.")
        case .valueNotFound(_, let context):
            let field = place(context.codingPath)
            return .invalid(field, "\(field) must not be null.")
        case .typeMismatch(let type, let context):
            let field = place(context.codingPath)
            return .invalid(
                field.isEmpty ? "body" : field, "\(field.isEmpty ? "The body" : field) must be \(word(for: type)).")
        case .dataCorrupted(let context):
            let field = place(context.codingPath)
            return field.isEmpty
                ? .invalid("body", "The body must be a JSON object.")
                : .invalid(field, "\(field) \(context.debugDescription).")
        @unknown default: return .invalid("body", "The body is not what this request takes.")
        }
    }

    private static func word(for type: Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [Any].Type: "a list"
        default: String(describing: type).hasPrefix("Array") ? "a list" : "an object"
        }
    }
}
