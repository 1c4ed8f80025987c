import Foundation
package import HTTPTypes
package import MediaFiles
package import Model

/// Something that a client can ask for whose bodies are not JSON, and which only HTTP has: other standards say what it
/// looks like, or it is bytes. It stands in `/openapi.json` beside the operations.
package struct DocumentOperation: Sendable {
    package struct Request: Sendable {
        /// Absent where nobody has to say who asks.
        package var principal: Principal?
        /// Path and query parameters by name.
        package var parameters: [String: String]
        package var headers: HTTPFields
        /// The host that the client addressed, without the port.
        package var host: String?
        /// Receives the body, which the client may still be sending.
        var receive: @Sendable () async throws -> [UInt8]

        func requirePrincipal() throws -> Principal {
            guard let principal else { throw Problem.noAccessToken }
            return principal
        }

        func text() async throws -> String { String(decoding: try await receive(), as: UTF8.self) }

        /// The media type that the client says, without parameters.
        var mediaType: String? { headers.mediaType }

        func identifier<Entity>(
            _ name: String, of type: Identifier<Entity>.Type = Identifier<Entity>.self
        ) throws -> Identifier<Entity> {
            guard let text = parameters[name] else { throw Problem.invalid(name, "\(name) is missing.") }
            guard let identifier = Identifier<Entity>(text) else {
                throw Problem.invalid(name, "\(name) must be a UUID.")
            }
            return identifier
        }
    }

    package struct Answer: Sendable {
        package enum Body: Sendable {
            case none
            case bytes([UInt8])
            /// A part of a file.
            case file(FileBody)
        }

        package var status: Int
        package var body = Body.none
        /// Of the body, when there is one.
        package var contentType: String?
        package var headers: HTTPFields = [:]
    }

    /// An answer other than a problem, as the description has it.
    package struct Outcome: Sendable {
        var status: Int
        var meaning: String
        var contentType: String?
        /// Others that the body may have as well.
        var otherContentTypes: [String] = []
        var schema = Schema.text()
        /// Another body that it may have, of another shape.
        var alternative: (contentType: String, schema: Schema)?
        /// Names and meanings.
        var headers: [(String, String)] = []
    }

    let name: String
    let method: HTTPRequest.Method
    let path: String
    let summary: String
    /// Under which it stands in the description.
    var tag = "calls"
    var isPublic = false
    /// Of an operation without an access token: for whom its address was signed. Throws a `Problem` when it is not good.
    var signer: (@Sendable (Request) throws -> Principal)?
    var parameters: [Operation.Parameter] = []
    /// Request headers, with whether they are required and what they mean.
    var headers: [(name: String, isRequired: Bool, meaning: String)] = []
    /// The media types of the body; none: there is no body.
    var bodyTypes: [String] = []
    var bodySchema = Schema.text()
    var bodyLimit = RouteTable.maximumBody
    /// Of media types that have another.
    var bodyLimits: [String: Int] = [:]
    var outcomes: [Outcome]
    var problems: [Problem.Kind] = []
    var limit: RequestLimit = .requests
    var run: @Sendable (Request) async throws -> Answer

    /// Every problem that it can answer.
    var possibleProblems: [Problem.Kind] {
        var kinds: [Problem.Kind] = [.invalidRequest, .forbidden, .internalError, .unavailable]
        if !isPublic { kinds.append(.unauthenticated) }
        if !bodyTypes.isEmpty { kinds += [.payloadTooLarge, .unsupportedMediaType] }
        if limit != .none { kinds.append(.rateLimited) }
        return kinds + problems.filter { !kinds.contains($0) }
    }
}

extension HTTPFields {
    /// `Content-Type` without its parameters.
    var mediaType: String? {
        self[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
    }
}

extension Problem {
    package static let noAccessToken = Problem(
        .unauthenticated, "Send an access token: `Authorization: Bearer …`.", field: "Authorization")
}
