import Foundation

// Voice messages that wait: their sounds are in files until they are sent.
extension RealtimeEndpoint {
    private struct Sending: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        var kind = "voice"
        var file: String
        var replyTo: MessageReference?
        var thread: MessageReference?
    }
    private struct Getting: Encodable, Sendable { var conversation: ConversationID; var number: MessageReference }
    private struct MessageResult: Decodable, Sendable { var message: Message }

    func sendVoice(
        _ sound: Data, durationMs: Int?, replyTo: Message.ID?, thread: Message.ID?, in id: ConversationID
    ) async throws -> Message.ID {
        guard !sound.isEmpty else { throw SwitchboardError.invalidArgument("a voice message has a sound") }
        let owner = try await owner()
        let stored = WriteEntry.Sound(
            name: newUUID(), byteCount: sound.count, durationMs: max(0, durationMs ?? 0))
        let sounds = messaging.store?.sounds
        // The file first: an entry without it could not be sent, and a file without an entry is removed.
        do {
            try sounds?.write(sound, as: stored.name)
        } catch {
            throw SwitchboardError.storeFailed("\(error)")
        }
        do {
            return try queueVoice(stored, replyTo: replyTo, thread: thread, in: id, by: owner)
        } catch {
            sounds?.remove([stored.name])
            throw error
        }
    }

    func sendVoice(
        _ file: VoiceFile, replyTo: Message.ID?, thread: Message.ID?, in id: ConversationID
    ) async throws -> Message.ID {
        let owner = try await owner()
        var sound = WriteEntry.Sound(name: file.id, byteCount: file.byteCount, durationMs: file.durationMs)
        (sound.isOnServer, sound.waveform, sound.level) = (true, file.waveform, file.level)
        return try queueVoice(sound, replyTo: replyTo, thread: thread, in: id, by: owner)
    }

    private func queueVoice(
        _ sound: WriteEntry.Sound, replyTo: Message.ID?, thread: Message.ID?, in id: ConversationID, by owner: UserID
    ) throws(SwitchboardError) -> Message.ID {
        let id = resolve(id)
        var (reply, root): (WriteEntry.Target?, WriteEntry.Target?)
        if let replyTo { reply = try target(replyTo, in: id).target }
        if let thread { root = try target(thread, in: id).target }
        let message = Message.ID(author: owner, clientID: MessageClientID(newUUID()))
        let time = wallClock
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.sendVoice(sound, replyTo: reply, thread: root, in: id, as: message.clientID, at: time)
        }
        start()
        sendQueue()
        return message
    }

    func waitingSound(of message: Message.ID) -> Data? {
        guard message.author == messaging.owner, let sound = messaging.queue.send(message.clientID)?.storedSound else {
            return nil
        }
        return messaging.store?.sounds.read(sound.name, byteCount: sound.byteCount)
    }

    /// Sends a voice message: uploads its sound, unless the server has it. Both are carried out once, however often
    /// they are repeated.
    func voiceMessage(of entry: WriteEntry) async throws -> Message {
        guard let sound = entry.sound else { throw SwitchboardError.refused(WriteFailure.soundMissing.problem) }
        guard let file = try await file(of: sound, for: entry) else {
            // It was sent, and its answer was lost: its file went with the message.
            return try await sent(entry)
        }
        do {
            let result: MessageResult = try await request(
                "messages.send",
                Sending(
                    conversation: entry.conversation, clientID: entry.clientID, file: file,
                    replyTo: entry.replyTo.map(MessageReference.init), thread: entry.thread.map(MessageReference.init)))
            return result.message
        } catch SwitchboardError.refused(let problem)
            where problem.status < 500 && ![401, 408, 429].contains(problem.status)
        {
            if let message = try await message(sentWith: entry.clientID, in: entry.conversation) { return message }
            // Files that are not sent are few: this one is not needed.
            if !sound.isOnServer { let _: Nothing? = try? await request("voice.discard", ["file": file]) }
            throw SwitchboardError.refused(problem)
        }
    }

    /// The id of the file of a sound; nil if its message was sent before and it is gone.
    private func file(of sound: WriteEntry.Sound, for entry: WriteEntry) async throws -> String? {
        guard !sound.isOnServer else { return sound.name }
        guard let bytes = messaging.store?.sounds.read(sound.name, byteCount: sound.byteCount) else {
            throw SwitchboardError.refused(WriteFailure.soundMissing.problem)
        }
        let token = try await credentials.accessToken().text
        do {
            return try await rest.uploadVoice(bytes, as: MessageClientID(sound.name), token: token).id
        } catch SwitchboardError.refused(let problem) where problem.kind == .notFound && problem.field == "file" {
            guard try await message(sentWith: entry.clientID, in: entry.conversation) == nil else { return nil }
            // An earlier upload was not sent in time.
            return try await rest.uploadVoice(bytes, as: MessageClientID(newUUID()), token: token).id
        }
    }

    private func sent(_ entry: WriteEntry) async throws -> Message {
        guard let message = try await message(sentWith: entry.clientID, in: entry.conversation) else {
            throw SwitchboardError.refused(WriteFailure.soundMissing.problem)
        }
        return message
    }

    /// The message that the user has sent with a client id; nil if the server has none.
    func message(sentWith clientID: MessageClientID, in id: ConversationID) async throws -> Message? {
        do {
            let result: MessageResult = try await request(
                "messages.get", Getting(conversation: id, number: MessageReference(.waiting(clientID))))
            return result.message
        } catch SwitchboardError.refused(let problem)
            where [.predecessorMissing, .notFound, .forbidden].contains(problem.kind)
        {
            return nil
        }
    }
}

/// A message, as requests name it: by its number, or by its client id.
struct MessageReference: Encodable, Sendable {
    let target: WriteEntry.Target

    init(_ target: WriteEntry.Target) { self.target = target }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch target {
        case .number(let number): try container.encode(number)
        case .waiting(let clientID): try container.encode("client:\(clientID)")
        }
    }
}
