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
    /// Who may no longer listen, or sees other messages or marks than before.
    var listenChanges: [ListenChange] {
        let (stream, marks) = (StreamName.conversation(conversation), StreamName.marks(conversation))
        let ofAccess = access.flatMap { user, access in
            switch access {
            case .ended:
                [stream, .typing(conversation), marks].map { ListenChange(user: user, stream: $0, kind: .drop) }
            case .hidden: [ListenChange(user: user, stream: stream, kind: .reread)]
            case .changed: [stream, marks].map { ListenChange(user: user, stream: $0, kind: .reread) }
            }
        }
        return ofAccess + marksAccess.map { ListenChange(user: $0, stream: marks, kind: .reread) }
    }
}
