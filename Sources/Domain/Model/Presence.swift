/// Whether a user is there, as others see it.
package struct Presence: Hashable, Sendable {
    package static let offline = Presence(online: false)

    package var online: Bool
    /// When the user was last there, of one who is offline.
    package var lastSeenAt: Timestamp?

    package init(online: Bool, lastSeenAt: Timestamp? = nil) {
        self.online = online
        self.lastSeenAt = lastSeenAt
    }

    /// The presence as JSON text: the snapshot and the event of a presence stream.
    package var json: String {
        var writer = JSONWriter(capacity: 64)
        writer.object { writer in
            writer.member("online", online)
            writer.member("lastSeenAt", lastSeenAt)
        }
        return writer.text
    }

    /// What a listener with this view gets of it.
    package func seen(_ view: PresenceView) -> Presence {
        switch view {
        case .nothing: .offline
        case .online: Presence(online: online)
        case .full: self
        }
    }
}

/// What a listener sees of somebody's presence.
package enum PresenceView: Hashable, Sendable {
    /// Always offline.
    case nothing
    case online
    /// Also when they were last there.
    case full
}
