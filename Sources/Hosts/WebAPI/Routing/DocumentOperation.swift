package import HTTPTypes
package import Model

/// Something that a client can ask for whose bodies are not JSON, and which only HTTP has: other standards say what it
/// looks like. It stands in `/openapi.json` beside the operations.
package struct DocumentOperation: Sendable {
    package struct Request: Sendable {
        package var principal: Principal
        package var parameters: [String: String]
        package var headers: HTTPFields
        package var body: String
        /// The host that the client addressed, without the port.
        package var host: String?

        func identifier<Entity>(
            _ name: String, of type: Identifier<Entity>.Type = Identifier<Entity>.self
        ) throws -> Identifier<Entity> {
            guard let text = parameters[name], let identifier = Identifier<Entity>(text) else {
                throw Problem.invalid(name, "\(name) must be a UUID.")
            }
            return identifier
        }
    }

    package struct Answer: Sendable {
        package var status: Int
        package var body = ""
        /// Of the body, when there is one.
        package var contentType: String?
        package var headers: HTTPFields = [:]
    }

    /// An answer other than a problem, as the description has it.
    package struct Outcome: Sendable {
        var status: Int
        var meaning: String
        var contentType: String?
        /// Names and meanings.
        var headers: [(String, String)] = []
    }

    let name: String
    let method: HTTPRequest.Method
    let path: String
    let summary: String
    var parameters: [Operation.Parameter] = []
    /// Request headers, with whether they are required and what they mean.
    var headers: [(name: String, isRequired: Bool, meaning: String)] = []
    /// The media type of the body; nil: there is none.
    var bodyType: String?
    var outcomes: [Outcome]
    var problems: [Problem.Kind] = []
    var limit: RequestLimit = .requests
    var run: @Sendable (Request) async throws -> Answer

    /// Every problem that it can answer.
    var possibleProblems: [Problem.Kind] {
        var kinds: [Problem.Kind] = [.invalidRequest, .unauthenticated, .forbidden, .internalError, .unavailable]
        if bodyType != nil { kinds += [.payloadTooLarge, .unsupportedMediaType] }
        if limit != .none { kinds.append(.rateLimited) }
        return kinds + problems.filter { !kinds.contains($0) }
    }
}
