import Messaging
import Model
import Storage
import TestSupport
import Testing
import Voice

/// Voice files in the real store: making, sending and removing them.
@Suite struct VoiceTests {
    private struct Fixture {
        let scratch: ScratchStore
        var commands = VoiceCommands()
        let people: [UserID]
        var alice: Principal { Principal(user: people[0]) }

        init() async throws {
            let scratch = try await ScratchStore()
            self.scratch = scratch
            people = try await scratch.store.write { transaction in
                try ["Alice", "Bob"].map { name in
                    let id = UserID.make(at: transaction.now)
                    try transaction.sql.execute(
                        """
                        INSERT INTO users (id, display_name, languages, call_waiting, presence, created_at)
                        VALUES (?1, ?2, '', 0, 'everyone', 0)
                        """, [.id(id), .text(name)])
                    return id
                }
            }.value
        }

        func keep(
            _ clientID: ClientID? = nil, hash: [UInt8] = [1], durationMs: Int = 1_500
        ) async throws -> MadeFile {
            let (now, commands, alice) = (scratch.clock.now, commands, alice)
            let audio = VoiceAudio(
                durationMs: durationMs, byteCount: 4_000, contentType: "audio/ogg", waveform: [0, 50, 100], level: -23)
            return try await scratch.store.write { store in
                let kept = try commands.keep(
                    audio, in: .make(at: now), clientID ?? .make(at: now), bodyHash: hash, by: alice, at: now,
                    store: store)
                return MadeFile(file: kept.file, isDuplicate: kept.isDuplicate)
            }.value
        }

        func problem<Value: Sendable>(_ body: () async throws -> Value) async -> Problem? {
            do {
                _ = try await body()
                return nil
            } catch { return error as? Problem }
        }
    }

    private struct MadeFile: Sendable {
        let file: VoiceFile
        let isDuplicate: Bool
    }

    @Test func aRepeatMakesNothingTwice() async throws {
        let fixture = try await Fixture()
        let clientID = ClientID.make(at: fixture.scratch.clock.now)
        let first = try await fixture.keep(clientID)
        let again = try await fixture.keep(clientID)
        #expect(!first.isDuplicate && again.isDuplicate && again.file == first.file)
        #expect(await fixture.problem { try await fixture.keep(clientID, hash: [2]) }?.kind == .clientIDReused)
        #expect(await fixture.problem { try await fixture.keep(durationMs: 300_001) }?.field == "body")
        #expect(await fixture.problem { try await fixture.keep(durationMs: 0) }?.field == "body")
    }

    @Test func whatIsNotSentIsBoundedAndCounted() async throws {
        var fixture = try await Fixture()
        var rules = VoiceRules()
        (rules.unsentLimit, rules.quota.userBytes) = (2, 9_000)
        fixture.commands = VoiceCommands(rules: rules)
        let first = try await fixture.keep().file
        _ = try await fixture.keep()
        #expect(await fixture.problem { try await fixture.keep() }?.kind == .conflict)
        let (alice, bob, commands) = (fixture.alice, Principal(user: fixture.people[1]), fixture.commands)
        _ = try await fixture.scratch.store.write { store in
            // Another one's is not there.
            try commands.discard(first.id, by: bob, in: store)
            #expect(try store.voiceFile(first.id) == first && store.mediaBytes(of: alice.user) == 8_000)
            try commands.discard(first.id, by: alice, in: store)
            try commands.discard(first.id, by: alice, in: store)
            #expect(try store.voiceFile(first.id) == nil && store.mediaBytes(of: alice.user) == 4_000)
        }
        _ = try await fixture.keep()
        rules.unsentLimit = 9
        fixture.commands = VoiceCommands(rules: rules)
        #expect(await fixture.problem { try await fixture.keep() }?.kind == .quotaExceeded)
        // In time they go by themselves.
        let later = fixture.scratch.clock.now.adding(seconds: rules.unsentSeconds + 1)
        _ = try await fixture.scratch.store.write { store in
            let removed = try commands.removeUnsent(limit: 9, at: later, in: store)
            #expect(removed == 2)
            #expect(try store.mediaBytes(of: alice.user) == 0)
        }
    }

    @Test func aSentFileFollowsItsMessage() async throws {
        let fixture = try await Fixture()
        let file = try await fixture.keep().file
        let (people, now) = (fixture.people, fixture.scratch.clock.now)
        let notices = Collected()
        fixture.scratch.store.observeVoice { notices.append($0) }
        let commands = ConversationCommands()
        let id = try await fixture.scratch.store.write { store in
            let id = try commands.createGroup(
                name: nil, members: [people[1]], id: .make(at: now), by: people[0], in: store
            ).conversation.id
            var outgoing = OutgoingMessage(clientID: .make(at: now), forward: nil, digest: [1])
            outgoing.voice = OutgoingVoice(file: file.id, isTranscribed: true)
            _ = try commands.send(outgoing, to: id, by: people[0], in: store)
            return id
        }.value
        try await fixture.scratch.store.read { store in
            let message = try #require(try store.message(1, in: id))
            #expect(message.kind == .voice && message.voice?.audio == file.audio)
            #expect(message.voice?.transcript == .pending)
            #expect(try store.untranscribedVoiceFiles() == [file.id])
        }
        _ = try await fixture.scratch.store.write { store in
            try commands.transcribed(file.id, .complete(language: "en", text: "hello", segments: []), in: store)
            #expect(try store.message(1, in: id)?.voice?.words == "hello")
            _ = try commands.listen(1, in: id, by: people[0], store: store)
            #expect(try store.ownRows(of: people[0], in: id, 1...1).first?.listenedAt == store.now)
            _ = try commands.delete(1, in: id, by: people[0], store: store)
        }
        try await fixture.scratch.store.read { store in
            let media = try store.mediaFile(file.id)
            #expect(try media == nil && store.transcript(of: file.id) == nil)
            #expect(try store.message(1, in: id)?.voice == nil)
        }
        #expect(notices.all.map(\.toTranscribe) == [[file.id], []])
        #expect(notices.all.map(\.removed) == [[], [file.id]])
    }
}

private final class Collected: @unchecked Sendable {
    private(set) var all: [VoiceNotice] = []
    // On the writer's thread alone.
    func append(_ notice: VoiceNotice) { all.append(notice) }
}
