/// The database's record of a file in the media directory; the file itself holds only the bytes.
package struct MediaFile: Hashable, Sendable {
    /// What the file belongs to, which decides who may read it.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The audio of a voice message, sent or not: its own id is the resource.
        case voice
        /// A track of a recording, whose id is the resource.
        case recording
        /// The photo of a user, whose id is the resource.
        case photo
    }

    package let id: FileID
    package let kind: Kind
    /// The id of what it belongs to.
    package let resource: String
    package let contentType: String
    package let byteCount: Int
    package let createdAt: Timestamp
    /// Whose quota its bytes count against; nil for nobody's.
    package let owner: UserID?

    package init(
        id: FileID, kind: Kind, resource: String, contentType: String, byteCount: Int, createdAt: Timestamp,
        owner: UserID?
    ) {
        self.owner = owner
        self.id = id
        self.kind = kind
        self.resource = resource
        self.contentType = contentType
        self.byteCount = byteCount
        self.createdAt = createdAt
    }
}
