package import Accounts
package import HTTPTypes
import Model

/// An operation of the API: the row of the route table from which the REST route, the realtime request and the OpenAPI
/// description are derived.
package struct Operation: Sendable {
    /// Who may call the operation. Further permissions are checked by its command.
    package enum Access: Hashable, Sendable {
        case anyone
        /// A verified access token.
        case user
        /// A verified access token and an authenticated endpoint.
        case endpoint
        /// A server key with the scope, under `/v1/server`.
        case serverKey(ServerKeyScope)
        /// A server key of the scope `operator`, on the operator's port: to sign in.
        case operatorKey
        /// The token of an operator's session, on the operator's port.
        case `operator`
    }

    /// A value in the path or the query; in a realtime request a member of `params`.
    package struct Parameter: Sendable {
        let name: String
        let isInPath: Bool
        let isRequired: Bool
        let schema: Schema
        let description: String

        static func path(_ name: String, _ schema: Schema = .identifier, _ description: String) -> Self {
            Self(name: name, isInPath: true, isRequired: true, schema: schema, description: description)
        }

        static func query(
            _ name: String, _ schema: Schema, isRequired: Bool = false, _ description: String
        ) -> Self {
            Self(name: name, isInPath: false, isRequired: isRequired, schema: schema, description: description)
        }
    }

    /// A response other than a problem.
    package struct Success: Sendable {
        let status: Int
        let description: String
        let schema: Schema?
        /// What it is for clients that take an event stream: of each event the data.
        var events: Schema?

        static func ok(_ schema: Schema, _ description: String = "Done.") -> Self {
            Self(status: 200, description: description, schema: schema)
        }

        static func created(_ schema: Schema, _ description: String = "Created.") -> Self {
            Self(status: 201, description: description, schema: schema)
        }

        static func accepted(_ schema: Schema, _ description: String = "Accepted.") -> Self {
            Self(status: 202, description: description, schema: schema)
        }

        static let noContent = Self(status: 204, description: "Done. There is no content.", schema: nil)
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
    var responses: [Success] = [.noContent]
    /// The problems of this operation, besides those of every operation.
    var problems: [Problem.Kind] = []
    var limit: RequestLimit = .requests
    /// As how many requests it counts against its limit.
    var permits = 1
    /// Whether it keeps texts besides messages, such as drafts: their bytes count as those of messages do.
    var keepsText = false
    /// Of one whose method is not GET: that it writes nothing to the store.
    var isReadOnly = false
    /// What the operator may have disabled; nil for what is always possible.
    var feature: FeatureRequirement?
    var run: @Sendable (OperationRequest) async throws -> OperationResponse

    /// Whether it writes to the store, so that it is refused while the disk is full.
    var writes: Bool { method != .get && !isReadOnly }
}

/// The configured rate limit that an operation counts against, per user (or per address, without a user).
package enum RequestLimit: String, Sendable, CaseIterable {
    /// All requests from one address, with or without a user. Counted first, so that a flood costs no further checks.
    case address
    case requests
    case calls
    case signals
    case searches
    case translations
    case hints
    /// Checking and rewriting drafts, and suggesting replies.
    case writing
    /// Questions to the assistant.
    case assistant
    case friendRequests
    /// Creating conversations and adding people.
    case conversations
    /// Sending and editing messages of one conversation, so that a queue that has reached it does not keep the others.
    case messages
    /// Sending and editing messages of all conversations, which is counted as well.
    case allMessages
    /// The kibibytes of long messages, over all conversations.
    case messageSizes
    /// The bytes of messages, edits and drafts, over a day.
    case writtenBytes
    case voiceMessages
    case photos
    /// Exports of conversations.
    case exports
    case credentials
    case signUps
    /// Requests of one server key.
    case serverKeys
    /// No limit for users, for cheap operations.
    case none
}
