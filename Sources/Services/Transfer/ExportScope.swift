package import Model

/// What is exported.
package enum ExportScope: Codable, Hashable, Sendable {
    /// Everything of the operator's.
    case all
    /// A conversation with its members, as it is stored.
    case conversation(ConversationID)
    /// The conversations of a user, as they see them.
    case user(UserID)
    /// One of them.
    case member(UserID, of: ConversationID)
}

/// How far an export is.
package struct ExportCursor: Codable, Hashable, Sendable {
    package enum Stage: String, Codable, Sendable {
        case users
        /// Whose data it is.
        case account
        /// The next conversation after `conversation`.
        case conversation
        case members
        case messages
        case own
    }

    package var stage: Stage
    package var conversation: ConversationID?
    /// The last one of the stage.
    package var user: UserID?
    package var number: Int64 = 0

    package init(_ stage: Stage, of conversation: ConversationID? = nil, user: UserID? = nil, number: Int64 = 0) {
        self.stage = stage
        self.conversation = conversation
        self.user = user
        self.number = number
    }
}

/// A part of an export.
package struct ExportPage: Sendable {
    /// Lines without their ends.
    package var lines: [[UInt8]]
    /// Nil after the last one.
    package var next: ExportCursor?
}
