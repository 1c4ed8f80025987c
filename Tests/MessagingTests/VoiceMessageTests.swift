import Model
import Testing
import Voice

@testable import Messaging

@Suite("Voice messages")
struct VoiceMessageTests {
    private let audio = VoiceAudio(
        durationMs: 2_000, byteCount: 9_000, contentType: "audio/ogg", waveform: [1, 100], level: -20)

    /// A file of somebody that is not sent.
    private func file(_ chat: Chat, by author: Int = 0) -> FileID {
        let file = VoiceFile(
            id: .make(at: chat.store.now), author: chat.people[author], createdAt: chat.store.now, audio: audio)
        chat.store.insert(file)
        return file.id
    }

    @discardableResult
    private func send(
        _ file: FileID, _ chat: Chat, to id: ConversationID, by author: Int = 0, isTranscribed: Bool = false,
        clientID: ClientID? = nil
    ) throws -> (message: SeenMessage, isDuplicate: Bool) {
        var outgoing = OutgoingMessage(
            clientID: clientID ?? .make(at: chat.store.now), forward: nil, digest: [1])
        outgoing.voice = OutgoingVoice(file: file, isTranscribed: isTranscribed)
        return try chat.commands.send(outgoing, to: id, by: chat.people[author], in: chat.store)
    }

    private func problem(_ body: () throws -> Void) -> Problem? {
        do {
            try body()
            return nil
        } catch { return error as? Problem }
    }

    @Test("a file is sent once, by its author")
    func sending() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let file = file(chat)
        #expect(problem { try send(file, chat, to: id, by: 1) }?.kind == .notFound)
        let clientID = ClientID.make(at: chat.store.now)
        let sent = try send(file, chat, to: id, clientID: clientID)
        #expect(sent.message.kind == .voice && sent.message.text == nil && sent.message.voice?.file == file)
        #expect(try send(file, chat, to: id, clientID: clientID).isDuplicate)
        let again = problem { try send(file, chat, to: id) }
        #expect(again?.kind == .conflict && again?.field == "file")
        #expect(problem { try send(.make(at: chat.store.now), chat, to: id) }?.field == "file")
        let unread = try chat.commands.unread(of: chat.people[1], in: [id], store: chat.store)[id]
        #expect(unread?.messages == 1)
        // It is neither edited nor forwarded, nor sent later.
        let number = sent.message.number
        #expect(
            problem {
                _ = try chat.commands.edit(
                    number, in: id, text: MessageText("x"), basedOn: 1, by: chat.people[0], store: chat.store)
            }?.kind == .conflict)
        #expect(
            problem {
                _ = try chat.commands.send(
                    OutgoingMessage(
                        clientID: .make(at: chat.store.now), forward: MessageReference(id, number), digest: []),
                    to: id, by: chat.people[0], in: chat.store)
            }?.field == "forward")
        var later = OutgoingMessage(clientID: .make(at: chat.store.now), forward: nil, digest: [])
        later.voice = OutgoingVoice(file: self.file(chat), isTranscribed: false)
        #expect(
            problem {
                _ = try chat.commands.schedule(
                    later, at: chat.store.now.adding(seconds: 60), to: id, by: chat.people[0], in: chat.store)
            }?.field == "sendAt")
    }

    @Test("a request has only texts")
    func requests() throws {
        let chat = Chat(people: 2, areFriends: false)
        let id = try chat.commands.createDirect(
            with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
        ).found.conversation.id
        let file = file(chat)
        #expect(problem { try send(file, chat, to: id) }?.kind == .forbidden)
        #expect(chat.store.voiceFile(file)?.location == nil)
        chat.store.friends.insert([chat.people[0], chat.people[1]])
        try send(file, chat, to: id)
    }

    @Test("who sees the message may listen to it, as long as they do")
    func receiving() throws {
        let chat = Chat(people: 4)
        let id = try chat.group([1, 2])
        let file = file(chat)
        func mayListen(_ person: Int) throws -> Bool {
            try chat.commands.mayListen(to: file, chat.people[person], in: chat.store)
        }
        // Before it is sent nobody does.
        #expect(try !mayListen(0))
        let number = try send(file, chat, to: id).message.number
        #expect(try mayListen(0) && mayListen(1) && mayListen(2) && !mayListen(3))
        _ = try chat.commands.hide(number, in: id, by: chat.people[2], store: chat.store)
        #expect(try !mayListen(2))
        chat.store.inactive.insert(chat.people[1])
        #expect(try !mayListen(1))
        chat.store.inactive = []
        #expect(try chat.commands.voiceFile(number, in: id, by: chat.people[1], store: chat.store) == file)
        _ = try chat.commands.delete(number, in: id, by: chat.people[0], store: chat.store)
        #expect(try !mayListen(0) && !mayListen(1))
        #expect(chat.store.voice.removed == [file] && chat.store.voiceFile(file) == nil)
        #expect(
            problem {
                _ = try chat.commands.voiceFile(number, in: id, by: chat.people[1], store: chat.store)
            }?.kind == .conflict)
    }

    @Test("what is withheld is for its author alone")
    func withheld() throws {
        let chat = Chat(people: 2)
        chat.store.friends.insert([chat.people[0], chat.people[1]])
        let id = try chat.commands.createDirect(
            with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
        ).found.conversation.id
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        let file = file(chat)
        try send(file, chat, to: id, isTranscribed: true)
        try chat.commands.transcribed(file, .complete(language: nil, text: "hidden", segments: []), in: chat.store)
        #expect(try chat.commands.mayListen(to: file, chat.people[0], in: chat.store))
        #expect(try !chat.commands.mayListen(to: file, chat.people[1], in: chat.store))
    }

    @Test("nobody listens to a message that has disappeared, and its file goes with it")
    func disappearing() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        _ = try chat.commands.change(id, disappearAfter: 10, by: chat.people[0], in: chat.store)
        let file = file(chat)
        try send(file, chat, to: id, isTranscribed: true)
        chat.store.now = chat.store.now.adding(seconds: 10)
        #expect(try !chat.commands.mayListen(to: file, chat.people[1], in: chat.store))
        // A transcript that comes late is not kept.
        try chat.commands.transcribed(file, .complete(language: nil, text: "late", segments: []), in: chat.store)
        #expect(chat.store.transcript(of: file) == .pending)
        #expect(try chat.commands.expireMessages(limit: 9, in: chat.store) == 1)
        #expect(chat.store.voice.removed == [file] && chat.store.transcript(of: file) == nil)
    }

    @Test("a transcript changes the message, and is not seen by who left before it")
    func transcripts() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let file = file(chat)
        let sent = try send(file, chat, to: id, isTranscribed: true).message
        #expect(sent.voice?.transcript == .pending && chat.store.voice.toTranscribe == [file])
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        let segments = [FileTranscript.Segment(start: 0, end: 900, text: "good morning")]
        try chat.commands.transcribed(
            file, .complete(language: "en", text: "good morning", segments: segments), in: chat.store)
        let seen = try chat.commands.message(sent.number, in: id, by: chat.people[1], store: chat.store)
        #expect(seen.version > sent.version && seen.textVersion == seen.version)
        #expect(seen.voice?.words == "good morning" && seen.voice?.transcript?.segments == nil)
        let whole = try chat.commands.transcript(of: sent.number, in: id, by: chat.people[1], store: chat.store)
        #expect(whole.segments == segments)
        let former = try chat.commands.message(sent.number, in: id, by: chat.people[2], store: chat.store)
        #expect(former.voice?.file == file && former.voice?.transcript == nil)
        #expect(
            problem {
                _ = try chat.commands.transcript(of: sent.number, in: id, by: chat.people[2], store: chat.store)
            }?.kind == .notFound)
        // Asked for again only after a failure.
        func ask() throws -> FileTranscript.Status {
            try chat.commands.requestTranscript(of: sent.number, in: id, by: chat.people[1], store: chat.store).status
        }
        #expect(try ask() == .complete)
        try chat.commands.transcribed(
            file, .failed(.init(type: "x", detail: "y", mayRetry: true)), in: chat.store)
        #expect(try ask() == .pending && chat.store.voice.toTranscribe == [file, file])
    }

    @Test("listening is noted once, for oneself")
    func listening() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let number = try send(file(chat), chat, to: id).message.number
        let own = try chat.commands.listen(number, in: id, by: chat.people[1], store: chat.store)
        #expect(own.isListened)
        let again = try chat.commands.listen(number, in: id, by: chat.people[1], store: chat.store)
        #expect(again.counter == own.counter)
        let page = try chat.commands.page(.newest, of: id, limit: 9, by: chat.people[1], in: chat.store).messages
        #expect(
            try chat.commands.own(of: page, in: id, by: chat.people[1], store: chat.store).map(\.isListened) == [true])
        #expect(try chat.commands.own(of: page, in: id, by: chat.people[0], store: chat.store).isEmpty)
        try chat.send("text", to: id, by: 0)
        #expect(
            problem {
                _ = try chat.commands.listen(number + 1, in: id, by: chat.people[1], store: chat.store)
            }?.kind == .conflict)
    }

    @Test("voice messages of an age are erased, and files that were not sent in time are removed")
    func ages() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let (sent, unsent) = (file(chat), file(chat, by: 1))
        let number = try send(sent, chat, to: id).message.number
        let voice = VoiceCommands()
        #expect(try voice.removeUnsent(limit: 9, at: chat.store.now, in: chat.store) == 0)
        chat.store.now = chat.store.now.adding(seconds: 90_000)
        #expect(try voice.removeUnsent(limit: 9, at: chat.store.now, in: chat.store) == 1)
        #expect(chat.store.voiceFile(unsent) == nil && chat.store.voiceFile(sent) != nil)
        #expect(try chat.commands.eraseVoiceMessages(before: chat.store.now, limit: 9, in: chat.store) == 1)
        let tombstone = try chat.commands.message(number, in: id, by: chat.people[1], store: chat.store)
        #expect(tombstone.deletedAt != nil && tombstone.voice == nil && chat.store.voiceFile(sent) == nil)
    }

    @Test("the document cuts a long transcript in lists")
    func documents() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let file = file(chat)
        let number = try send(file, chat, to: id, isTranscribed: true).message.number
        try chat.commands.transcribed(
            file, .complete(language: "en", text: String(repeating: "word ", count: 100), segments: []), in: chat.store)
        let message = try chat.commands.message(number, in: id, by: chat.people[1], store: chat.store)
        var (whole, cut) = (JSONWriter(capacity: 64), JSONWriter(capacity: 64))
        message.write(to: &whole)
        message.write(to: &cut, textBytes: 9)
        #expect(whole.text.contains(#""waveform":[1,100]"#) && !whole.text.contains("isCut"))
        #expect(cut.text.contains(#""text":"word word""#) && cut.text.contains(#""isCut":true"#))
    }
}
