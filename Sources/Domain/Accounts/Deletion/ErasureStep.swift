package import Model

/// The steps of an erasure, in their order. Each works in small transactions and may be repeated: what is gone already
/// is not found again.
package enum ErasureStep: String, Hashable, Sendable, CaseIterable {
    /// Others lose the user as a friend, and reports by the user lose their texts.
    case friends
    /// What the user wrote is deleted for all.
    case messages
    /// The user's reactions are taken from the messages of others.
    case reactions
    /// The user leaves all groups.
    case conversations
    /// The user leaves all calls, and the photo is removed.
    case calls
    /// Voice files that were not sent; the others went with their messages.
    case voiceMessages = "voice_messages"
    /// The recorded tracks, and the mixes that hold them.
    case recordings
    /// Rows that belong to the user alone.
    case rows
    /// The name in the history of calls.
    case participants
    case signals
    /// The name and the app's own id in events.
    case events
    /// Entries of the log that name the user.
    case log
    /// What was deleted leaves the files of the database.
    case checkpoint

    package static let first = ErasureStep.friends

    /// Nil after the last.
    package var next: ErasureStep? {
        let all = Self.allCases
        guard let index = all.firstIndex(of: self), index + 1 < all.count else { return nil }
        return all[index + 1]
    }
}

/// An erasure that was claimed. Whoever claims it later has a higher fence, and then this claim writes nothing any more.
package struct Erasure: Hashable, Sendable {
    package let user: UserID
    package let fence: Int64
    package var step: ErasureStep
    /// How far the step is; empty at its start.
    package var cursor: String
    package let photo: FileID?
    package let requestedAt: Timestamp

    package init(
        user: UserID, fence: Int64, step: ErasureStep, cursor: String, photo: FileID?, requestedAt: Timestamp
    ) {
        self.user = user
        self.fence = fence
        self.step = step
        self.cursor = cursor
        self.photo = photo
        self.requestedAt = requestedAt
    }
}
