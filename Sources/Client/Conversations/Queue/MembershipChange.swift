/// A change of the user's own settings of a conversation, which nobody else sees.
enum MembershipChange: Codable, Hashable, Sendable {
    case muted(Mute?)
    case pinned(Bool)
    case archived(Bool)
    case markedUnread(Bool)
    /// With nil, the setting of the account applies.
    case receipts(Bool?)
    /// With nil, the setting of the account applies.
    case translation(TranslationSettings?)
    case hints(TranslationSettings.Mode?)
    case intelligence(IntelligenceLevel?)
    case draft(Draft)

    /// Of the member of the request.
    var name: String {
        switch self {
        case .muted: "muted"
        case .pinned: "pinned"
        case .archived: "archived"
        case .markedUnread: "markedUnread"
        case .receipts: "receipts"
        case .translation: "translation"
        case .hints: "hints"
        case .intelligence: "intelligence"
        case .draft: "draft"
        }
    }

    /// Shows the change as done.
    func apply(to membership: inout Membership) {
        switch self {
        case .muted(let mute): membership.muted = mute
        case .pinned(let isPinned): membership.pinned = isPinned
        case .archived(let isArchived): membership.archived = isArchived
        case .markedUnread(let isUnread): membership.markedUnread = isUnread
        case .receipts(let areShown): membership.receipts = areShown
        case .translation(let settings): membership.translation = settings
        case .hints(let mode): membership.hints = mode
        case .intelligence(let level): membership.intelligence = level
        // A draft that another device has saved meanwhile stays.
        case .draft(let draft):
            if draft.revision > membership.draft?.revision ?? 0 { membership.draft = draft }
        }
    }
}

/// The parameters of the request that changes one member of a membership.
struct MembershipRequest: Encodable, Sendable {
    let conversation: ConversationID
    let change: MembershipChange

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(conversation, forKey: Key("conversation"))
        let key = Key(change.name)
        // A value that ends is null, which differs from none.
        switch change {
        case .muted(let mute): try container.encode(mute, forKey: key)
        case .pinned(let value), .archived(let value), .markedUnread(let value):
            try container.encode(value, forKey: key)
        case .receipts(let value): try container.encode(value, forKey: key)
        case .translation(let value): try container.encode(value, forKey: key)
        case .hints(let value): try container.encode(value, forKey: key)
        case .intelligence(let value): try container.encode(value, forKey: key)
        case .draft(let draft): try container.encode(draft, forKey: key)
        }
    }

    /// A member's name in JSON.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
