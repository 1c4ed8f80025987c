package import Messaging
package import Model
package import Storage

/// The body of a request that sends a message.
package struct SendMessage: Decodable, Hashable, Sendable {
    package var clientID: ClientID
    package var kind: String?
    package var text: String?
    /// Of a voice message.
    package var file: FileID?
    package var replyTo: MessageTarget?
    package var thread: MessageTarget?
    package var forward: Forward?
    package var draft: Int64?
    package var readUpTo: MessageTarget?
    package var sendAt: Timestamp?
    /// Of the message of the same user that has to be before it.
    package var afterClientID: ClientID?

    package init(clientID: ClientID, text: String, replyTo: MessageTarget? = nil) {
        self.clientID = clientID
        self.text = text
        self.replyTo = replyTo
    }

    package struct Forward: Decodable, Hashable, Sendable {
        package var conversation: ConversationID
        package var number: MessageTarget
    }

    /// Whether it names messages by client ids, whose numbers only a transaction can tell.
    fileprivate var namesClientIDs: Bool {
        [replyTo, thread, forward?.number, readUpTo].contains { if case .sent? = $0 { true } else { false } }
    }
}

extension ConversationService {
    /// Sends a message. A request that is repeated with its client id stores nothing, for ever.
    package func send(
        _ request: SendMessage, to id: ConversationID, by user: UserID
    ) async throws -> (message: SeenMessage, isDuplicate: Bool) {
        let make = try outgoing(request, to: id, by: user)
        let sent = try await store.send(WaitingSend(to: id, by: user, commands: commands, message: make))
        return (sent.message, sent.isDuplicate)
    }

    /// Stores a message until its time.
    package func schedule(
        _ request: SendMessage, at sendAt: Timestamp, to id: ConversationID, by user: UserID
    ) async throws -> ScheduledOutcome {
        let make = try outgoing(request, to: id, by: user)
        return try await write { try $1.schedule(make($0, $1), at: sendAt, to: id, by: user, in: $0) }
    }

    /// What a request sends, made in the transaction that stores it if it names messages by client ids.
    package func outgoing(
        _ request: SendMessage, to id: ConversationID, by user: UserID
    ) throws -> @Sendable (StoreTransaction, ConversationCommands) throws -> OutgoingMessage {
        let voice = try voice(of: request)
        let text = try request.text.map { commands.analyzer.analyzed(try MessageText($0)) }
        guard voice != nil || (text == nil) != (request.forward == nil) else {
            throw Problem.invalid(
                "text", "A message has a text, or is forwarded, or has the file of a voice message: one of them.")
        }
        guard request.namesClientIDs else {
            let message = outgoing(request, text, voice, NamedNumbers(request))
            return { _, _ in message }
        }
        return { store, commands in
            let numbers = try NamedNumbers(request) { target, conversation, field in
                try commands.number(of: target, in: conversation ?? id, field: field, by: user, store: store)
            }
            return outgoing(request, text, voice, numbers)
        }
    }

    /// A repetition may name by its number what the first request named by its client id: the digest has the numbers.
    private func outgoing(
        _ request: SendMessage, _ text: MessageText?, _ voice: OutgoingVoice?, _ numbers: NamedNumbers
    ) -> OutgoingMessage {
        // With lengths, so that two requests do not have the same digest. The message that was on the screen is not a
        // part of it. Nor is the message before it in the queue, which is another one if that was refused.
        var parts = "message \(numbers.replyTo ?? 0) \(text?.text.utf8.count ?? 0) \(text?.text ?? "")"
        if let thread = numbers.thread { parts += " thread \(thread)" }
        if let sendAt = request.sendAt { parts += " at \(sendAt)" }
        var outgoing: OutgoingMessage
        if let text {
            outgoing = OutgoingMessage(
                clientID: request.clientID, text: text, replyTo: numbers.replyTo, digest: digest(of: parts))
        } else {
            let source = numbers.forward
            if let source { parts += " forward \(source.conversation) \(source.number)" }
            outgoing = OutgoingMessage(
                clientID: request.clientID, forward: source, replyTo: numbers.replyTo, digest: digest(of: parts))
        }
        if let voice {
            outgoing.voice = voice
            outgoing.digest = digest(of: parts + " voice \(voice.file)")
        }
        outgoing.thread = numbers.thread
        outgoing.draft = request.draft
        outgoing.readUpTo = numbers.readUpTo
        outgoing.afterClientID = request.afterClientID
        return outgoing
    }

    private func voice(of request: SendMessage) throws -> OutgoingVoice? {
        switch request.kind ?? "text" {
        case "text":
            guard request.file == nil else { throw Problem.invalid("file", "Only a message of kind voice has a file.") }
            return nil
        case "voice":
            guard let file = request.file else { throw Problem.invalid("file", "A voice message has a file.") }
            guard request.text == nil, request.forward == nil else {
                throw Problem.invalid(
                    request.text == nil ? "forward" : "text", "A voice message has neither text nor forward.")
            }
            return OutgoingVoice(file: file, isTranscribed: transcribesVoice)
        default: throw Problem.invalid("kind", "kind is text or voice.")
        }
    }
}

/// The numbers of the messages that a request names.
private struct NamedNumbers {
    let replyTo: Int64?
    let thread: Int64?
    let forward: MessageReference?
    let readUpTo: Int64?

    /// - Parameter number: of a target, in a conversation, which is nil for the request's own, in a field of the
    ///   request.
    init(_ request: SendMessage, _ number: (MessageTarget, ConversationID?, String) throws -> Int64) rethrows {
        replyTo = try request.replyTo.map { try number($0, nil, "replyTo") }
        thread = try request.thread.map { try number($0, nil, "thread") }
        forward = try request.forward.map {
            MessageReference($0.conversation, try number($0.number, $0.conversation, "forward.number"))
        }
        readUpTo = try request.readUpTo.map { try number($0, nil, "readUpTo") }
    }

    /// Of a request that names none by its client id.
    init(_ request: SendMessage) {
        self.init(request) { target, _, _ in
            guard case .number(let number) = target else { return 0 }
            return number
        }
    }
}
