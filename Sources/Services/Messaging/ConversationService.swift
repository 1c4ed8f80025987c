package import Accounts
package import Messaging
package import Model
package import Storage

/// Runs the commands of conversations: one transaction each.
package struct ConversationService: Sendable {
    package let store: Store
    package let commands: ConversationCommands
    /// Writes what members have read and received.
    package let marks: MarkCollector
    let secrets: any SecretSource
    /// Whether voice messages are transcribed.
    let transcribesVoice: Bool

    package init(
        store: Store, commands: ConversationCommands, secrets: any SecretSource, transcribesVoice: Bool = false
    ) {
        marks = MarkCollector(store: store, commands: commands)
        self.transcribesVoice = transcribesVoice
        self.store = store
        self.commands = commands
        self.secrets = secrets
    }

    package func write<Value: Sendable>(
        _ command: @escaping @Sendable (StoreTransaction, ConversationCommands) throws -> Value
    ) async throws -> Value {
        let commands = commands
        return try await store.write { try command($0, commands) }.value
    }

    /// Runs a command on one message.
    ///
    /// - Parameter command: gets the message's number.
    package func write<Value: Sendable>(
        _ message: NamedMessage,
        _ command: @escaping @Sendable (StoreTransaction, ConversationCommands, Int64) throws -> Value
    ) async throws -> Value {
        try await write { try command($0, $1, message.number(in: $0, $1)) }
    }

    package func read<Value: Sendable>(
        _ message: NamedMessage,
        _ command: @escaping @Sendable (StoreTransaction, ConversationCommands, Int64) throws -> Value
    ) async throws -> Value {
        try await read { try command($0, $1, message.number(in: $0, $1)) }
    }

    package func read<Value: Sendable>(
        _ command: @escaping @Sendable (StoreTransaction, ConversationCommands) throws -> Value
    ) async throws -> Value {
        let commands = commands
        return try await store.read { try command($0, commands) }
    }

    /// Tells a repetition of a request from another request with its client id.
    package func digest(of request: String) -> [UInt8] { secrets.digest(request) }
}

extension ConversationService {
    /// Raises the user's marks. By numbers they are collected; client ids get theirs in a transaction of their own,
    /// which is behind that of the messages they name.
    package func mark(
        read: MessageTarget?, delivered: MessageTarget?, in id: ConversationID, by user: UserID
    ) async throws -> MemberMarks {
        func number(_ target: MessageTarget?) -> Int64? {
            if case .number(let number)? = target { number } else { nil }
        }
        if number(read) != nil || read == nil, number(delivered) != nil || delivered == nil {
            return try await marks.mark(read: number(read), delivered: number(delivered), in: id, by: user)
        }
        return try await write { store, commands in
            let numbers = try [("read", read), ("delivered", delivered)].map { name, target in
                try target.map { try commands.number(of: $0, in: id, field: name, by: user, store: store) }
            }
            return try commands.mark(read: numbers[0], delivered: numbers[1], in: id, by: user, store: store)
        }
    }
}

/// The message that a request is about.
package struct NamedMessage: Hashable, Sendable {
    package let user: UserID
    package let conversation: ConversationID
    package let target: MessageTarget

    package init(user: UserID, conversation: ConversationID, target: MessageTarget) {
        self.user = user
        self.conversation = conversation
        self.target = target
    }

    fileprivate func number(in store: StoreTransaction, _ commands: ConversationCommands) throws -> Int64 {
        try commands.number(of: target, in: conversation, field: "number", by: user, store: store)
    }
}

/// The body of a request that creates a conversation.
package struct CreateConversation: Decodable, Hashable, Sendable {
    package var clientID: ClientID
    package var kind: ConversationKind
    package var members: [UserID]?
    package var name: String?
    package var disappearAfter: Int64?
}

extension ConversationKind: Decodable {}

extension ConversationService {
    /// Creates a conversation. A direct conversation, and a user's notes, exist only once: an existing one is returned.
    /// If a group is created again with its client id, the first one is returned.
    ///
    /// - Parameter show: reads what the response shows, in the same transaction.
    package func create<Shown: Sendable>(
        _ request: CreateConversation, by user: UserID,
        show: @escaping @Sendable (MemberConversation, StoreTransaction) throws -> Shown
    ) async throws -> (shown: Shown, isNew: Bool) {
        let members = request.members ?? []
        let disappearAfter = request.disappearAfter
        try Disappearing.check(disappearAfter)
        let name = try request.name.map { try AccountRules.displayName($0, field: "name") }
        switch request.kind {
        case .direct:
            guard members.count == 1, let other = members.first, name == nil else {
                throw members.count == 1
                    ? Problem.invalid("name", "A conversation of two people has no name.")
                    : Problem.invalid("members", "A direct conversation has one other member.")
            }
            return try await write { store, commands in
                let made = try commands.createDirect(
                    with: other, id: .make(at: store.now), disappearAfter: disappearAfter, by: user, in: store)
                return (try show(made.found, store), made.isNew)
            }
        case .ownNotes:
            guard members.isEmpty, name == nil else {
                throw Problem.invalid(members.isEmpty ? "name" : "members", "Notes have neither name nor members.")
            }
            return try await write { store, commands in
                let made = try commands.createNotes(
                    id: .make(at: store.now), disappearAfter: disappearAfter, by: user, in: store)
                return (try show(made.found, store), made.isNew)
            }
        case .group:
            let ids = members.map(\.text).joined(separator: " ")
            let hash = digest(of: "group \(ids) \(name ?? "")" + (disappearAfter.map { " disappearing \($0)" } ?? ""))
            return try await write { store, commands in
                let id = ConversationID.make(at: store.now)
                switch try store.remember(clientID: request.clientID, user: user, bodyHash: hash, entity: id.text) {
                case .new:
                    let made = try commands.createGroup(
                        name: name, members: members, id: id, disappearAfter: disappearAfter, by: user, in: store)
                    return (try show(made, store), true)
                case .same(let entity):
                    guard let id = ConversationID(entity) else { throw Problem.notFound("conversation") }
                    return (try show(commands.get(id, by: user, in: store), store), false)
                case .reused: throw Self.clientIDReused
                }
            }
        }
    }
}

extension ConversationService {
    /// Creates a conversation for an app's own back end.
    ///
    /// - Parameters:
    ///   - actor: the key, as the audit log names it.
    ///   - record: writes the record of a new conversation, in the same transaction.
    /// - Returns: `entry` is nil if it existed.
    package func createByServer<Entry: Sendable>(
        _ kind: ConversationKind, _ people: [UserReference], name: String?, disappearAfter: Int64? = nil,
        clientID: ClientID, actor: String,
        record: @escaping @Sendable (Conversation, StoreTransaction) throws -> Entry
    ) async throws -> (conversation: Conversation, entry: Entry?) {
        guard kind != .ownNotes else { throw Problem.invalid("kind", "kind is direct or group.") }
        guard kind == .group || people.count == 2 && name == nil else {
            throw people.count == 2
                ? Problem.invalid("name", "A conversation of two people has no name.")
                : Problem.invalid("members", "A direct conversation has two members.")
        }
        let hash = digest(
            of: "\(actor) \(kind.rawValue) \(people.map { "\($0)" }.joined(separator: " ")) \(name ?? "")"
                + (disappearAfter.map { " disappearing \($0)" } ?? ""))
        return try await write { store, commands in
            let users = try people.enumerated().map { try store.user($1, field: "members[\($0)]").id }
            guard let first = users.first, let last = users.last else {
                throw Problem.invalid("members", "A group has at least one member.")
            }
            let id = ConversationID.make(at: store.now)
            if kind == .direct {
                let made = try commands.createServerDirect(
                    of: first, and: last, id: id, disappearAfter: disappearAfter, in: store)
                return (made.conversation, made.isNew ? try record(made.conversation, store) : nil)
            }
            switch try store.remember(clientID: clientID, user: first, bodyHash: hash, entity: id.text) {
            case .new:
                let made = try commands.createServerGroup(
                    name: name, members: users, id: id, disappearAfter: disappearAfter, in: store)
                return (made, try record(made, store))
            case .same(let entity):
                guard let id = ConversationID(entity) else { throw Problem.notFound("conversation") }
                return (try commands.serverConversation(id, in: store), nil)
            case .reused: throw Self.clientIDReused
            }
        }
    }

    private static let clientIDReused = Problem(
        .clientIDReused, "This client id was used for another request.", field: "clientID")
}
