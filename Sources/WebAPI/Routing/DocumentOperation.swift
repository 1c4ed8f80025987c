import Foundation
package import HTTPTypes
import MediaFiles
package import Model

/// An operation whose bodies are not JSON, such as SDP or a file, and which is only available over HTTP. It is listed
/// in `/openapi.json` beside the other operations.
package struct DocumentOperation: Sendable {
    package struct Request: Sendable {
        /// Nil for an operation without authentication.
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

        /// The media type of the body, without parameters.
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

    package struct Output: Sendable {
        package enum Body: Sendable {
            case none
            case bytes([UInt8])
            /// A part of a file.
            case file(FileBody)
            /// Parts that are made while they are sent, each after the client has taken the one before.
            case parts(@Sendable (_ write: ([UInt8]) async throws -> Void) async throws -> Void)
        }

        package var status: Int
        package var body = Body.none
        /// The media type of the body, if there is one.
        package var contentType: String?
        package var headers: HTTPFields = [:]
    }

    /// A response other than a problem, for the OpenAPI description.
    package struct Outcome: Sendable {
        var status: Int
        var description: String
        var contentType: String?
        /// Other media types that the body may have.
        var otherContentTypes: [String] = []
        var schema = Schema.text()
        /// Another body that the response may have, with another schema.
        var alternative: (contentType: String, schema: Schema)?
        /// Names and descriptions.
        var headers: [(String, String)] = []
    }

    let name: String
    let method: HTTPRequest.Method
    let path: String
    let summary: String
    /// The tag in the OpenAPI description.
    var tag = "calls"
    var isPublic = false
    /// For an operation without an access token: the principal that its URL was signed for. Throws a `Problem` if the
    /// signature is not valid.
    var signer: (@Sendable (Request) throws -> Principal)?
    var parameters: [Operation.Parameter] = []
    /// Request headers, whether they are required, and their descriptions.
    var headers: [(name: String, isRequired: Bool, description: String)] = []
    /// The media types of the body; empty if there is no body.
    var bodyTypes: [String] = []
    var bodySchema = Schema.text()
    var bodyLimit = RouteTable.maximumBody
    /// Limits of media types that have another limit.
    var bodyLimits: [String: Int] = [:]
    var outcomes: [Outcome]
    var problems: [Problem.Kind] = []
    var limit: RequestLimit = .requests
    var run: @Sendable (Request) async throws -> Output

    /// Whether it writes to the store or to files, so that it is refused while the disk is full.
    var writes: Bool { method != .get && method != .head }

    /// Every problem that it can respond with.
    var possibleProblems: [Problem.Kind] {
        var kinds: [Problem.Kind] = [.invalidRequest, .forbidden, .internalError, .unavailable]
        if writes { kinds.append(.storageFull) }
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
