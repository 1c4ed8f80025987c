package import HTTPTypes
import Model

/// One thing that a client can ask for: the row of the route table from which the REST route, the realtime request and
/// the OpenAPI description all come.
package struct Operation: Sendable {
    /// Who may ask. What they may then do is decided inside the command.
    package enum Access: Sendable {
        case anyone
        /// A verified access token.
        case user
        /// A verified access token and a proved endpoint.
        case endpoint
    }

    /// A value in the path or the query; in a realtime request a member of `params`.
    package struct Parameter: Sendable {
        let name: String
        let isInPath: Bool
        let isRequired: Bool
        let schema: Schema
        let meaning: String

        static func path(_ name: String, _ schema: Schema = .identifier, _ meaning: String) -> Self {
            Self(name: name, isInPath: true, isRequired: true, schema: schema, meaning: meaning)
        }

        static func query(
            _ name: String, _ schema: Schema, isRequired: Bool = false, _ meaning: String
        ) -> Self {
            Self(name: name, isInPath: false, isRequired: isRequired, schema: schema, meaning: meaning)
        }
    }

    /// An answer other than a problem.
    package struct Answer: Sendable {
        let status: Int
        let meaning: String
        let schema: Schema?

        static func ok(_ schema: Schema, _ meaning: String = "Done.") -> Self {
            Self(status: 200, meaning: meaning, schema: schema)
        }

        static func created(_ schema: Schema, _ meaning: String = "Made.") -> Self {
            Self(status: 201, meaning: meaning, schema: schema)
        }

        static let noContent = Self(status: 204, meaning: "Done; there is nothing to say.", schema: nil)
    }

    /// The name of the realtime request, such as `calls.accept`; also the OpenAPI operation id.
    package let name: String
    package let method: HTTPRequest.Method
    /// With parameters in braces, such as `/v1/calls/{call}/accept`.
    package let path: String
    package let summary: String
    var access: Access = .user
    var isRealtime = true
    var parameters: [Parameter] = []
    var body: Schema?
    var answers: [Answer] = [.noContent]
    /// The problems that this operation adds to those that every one has.
    var problems: [Problem.Kind] = []
    var limit: RequestLimit = .requests
    var run: @Sendable (OperationRequest) async throws -> OperationAnswer
}

/// Which of the configured rate limits an operation counts against, per user (or per address, without a user).
package enum RequestLimit: String, Sendable, CaseIterable {
    /// Whatever comes from one address, with or without a user: counted first, so that nothing is checked for who only floods.
    case address
    case requests
    case calls
    case signals
    case searches
    case voiceMessages
    case photos
    case credentials
    case signUps
    /// Too cheap to count for a user.
    case none
}
