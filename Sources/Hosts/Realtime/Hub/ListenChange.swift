import Model

/// What a commit does to somebody's listens, before they receive its rows.
struct ListenChange: Hashable {
    enum Kind: Hashable {
        /// The stream is forgotten: they may not listen any more.
        case drop
        /// The stream is read anew: they see other things than before.
        case reread
    }

    var user: UserID
    var stream: StreamName
    var kind: Kind
}

extension ConversationUpdate {
    /// Those who share a conversation with others that they did not share before, or do no more: they see others' presence,
    /// and others theirs.
    var presenceChanges: Set<UserID> {
        let changed = Set(access.filter { $0.value != .hidden }.keys)
        let isNew = after == 0 && upTo > 0
        return isNew ? changed.union(moved) : changed
    }

    /// Who may no longer listen, or sees other messages or marks than before.
    var listenChanges: [ListenChange] {
        let (stream, marks) = (StreamName.conversation(conversation), StreamName.marks(conversation))
        let translations = StreamName.translations(conversation)
        let ofAccess = access.flatMap { user, access in
            switch access {
            case .ended:
                [stream, .typing(conversation), marks, translations].map {
                    ListenChange(user: user, stream: $0, kind: .drop)
                }
            case .hidden: [stream, translations].map { ListenChange(user: user, stream: $0, kind: .reread) }
            case .changed: [stream, marks, translations].map { ListenChange(user: user, stream: $0, kind: .reread) }
            }
        }
        return ofAccess + marksAccess.map { ListenChange(user: $0, stream: marks, kind: .reread) }
            + translationsAccess.map { ListenChange(user: $0, stream: translations, kind: .reread) }
    }
}

extension Change {
    /// The user who may see others' presence as before no more, and whose presence others may not.
    var presenceChange: UserID? {
        guard case .user(let user) = stream, let type = UserChangeType(rawValue: type) else { return nil }
        return type == .friend || type == .friendRemoved || type == .block ? user : nil
    }
}
