import Model
import Storage
import TestSupport
import Testing
import Voice

/// Voice messages in the real store: permissions and stream changes.
@Suite struct VoiceTests {
    private struct VoiceFixture {
        let scratch: ScratchStore
        var commands = VoiceCommands()
        let people: [UserID]
        var alice: Principal { Principal(user: people[0]) }
        var bob: Principal { Principal(user: people[1]) }
        var eve: Principal { Principal(user: people[2]) }

        init() async throws {
            let scratch = try await ScratchStore()
            self.scratch = scratch
            people = try await scratch.store.write { transaction in
                try ["Alice", "Bob", "Eve"].map { name in
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

        func send(
            _ clientID: ClientID? = nil, from sender: Principal, to recipient: UserID, hash: [UInt8] = [1],
            durationMs: Int = 1_500
        ) async throws -> (message: VoiceMessage, isDuplicate: Bool) {
            let now = scratch.clock.now
            let audio = VoiceAudio(
                durationMs: durationMs, byteCount: 4_000, contentType: "audio/ogg", waveform: [0, 50, 100], level: -23)
            let envelope = VoiceEnvelope(to: recipient, clientID: clientID ?? .make(at: now))
            let commands = commands
            let sent = try await scratch.store.write { store in
                try Sent(
                    commands.send(
                        audio, in: .make(at: now), envelope, bodyHash: hash, by: sender, id: .make(at: now), at: now,
                        store: store))
            }.value
            return (sent.message, sent.isDuplicate)
        }

        func list(
            _ principal: Principal, with other: UserID, before cursor: VoiceMessageID? = nil, limit: Int = 50
        ) async throws -> ([VoiceMessage], next: VoiceMessageID?) {
            let commands = commands
            let page = try await scratch.store.read { store in
                let page = try commands.list(with: other, before: cursor, limit: limit, by: principal, in: store)
                return Page(messages: page.messages, next: page.next)
            }
            return (page.messages, page.next)
        }

        func problem(_ work: @Sendable @escaping (StoreTransaction) throws -> Void) async -> Problem.Kind? {
            do {
                _ = try await scratch.store.write(work)
                return nil
            } catch {
                return (error as? Problem)?.kind
            }
        }
    }

    private struct Sent: Sendable {
        let message: VoiceMessage
        let isDuplicate: Bool

        init(_ sent: (VoiceMessage, Bool)) { (message, isDuplicate) = sent }
    }

    private struct Page: Sendable {
        let messages: [VoiceMessage]
        let next: VoiceMessageID?
    }

    @Test func aMessageIsThereForItsTwoUsersAlone() async throws {
        let fixture = try await VoiceFixture()
        let sent = try await fixture.send(from: fixture.alice, to: fixture.bob.user).message
        let commands = fixture.commands
        for principal in [fixture.alice, fixture.bob] {
            #expect(try await fixture.scratch.store.read { try commands.get(sent.id, by: principal, in: $0) } == sent)
            #expect(try await fixture.scratch.store.read { try commands.mayListen(sent.id, principal.user, in: $0) })
        }
        #expect(try await fixture.list(fixture.bob, with: fixture.alice.user).0 == [sent])
        #expect(try await fixture.list(fixture.eve, with: fixture.alice.user).0.isEmpty)
        let eve = fixture.eve
        #expect(await fixture.problem { _ = try commands.get(sent.id, by: eve, in: $0) } == .notFound)
        #expect(await fixture.problem { _ = try commands.remove(sent.id, by: eve, in: $0) } == .notFound)
        #expect(try await !fixture.scratch.store.read { try commands.mayListen(sent.id, eve.user, in: $0) })
        let changes = fixture.scratch.published
        #expect(changes.map(\.stream) == [.user(fixture.alice.user), .user(fixture.bob.user)])
        #expect(changes.allSatisfy { $0.type == "voice.created" && $0.data.contains("\"waveform\":[0,50,100]") })
        // The stream does not reveal the file.
        #expect(changes.allSatisfy { !$0.data.contains(sent.file.text) })
    }

    @Test func pagesFollowEachOtherFromTheNewest() async throws {
        let fixture = try await VoiceFixture()
        var sent: [VoiceMessage] = []
        for number in 0..<7 {
            fixture.scratch.clock.advance(seconds: 1)
            let (from, to) = number % 2 == 0 ? (fixture.alice, fixture.bob) : (fixture.bob, fixture.alice)
            sent.insert(try await fixture.send(from: from, to: to.user).message, at: 0)
        }
        _ = try await fixture.send(from: fixture.eve, to: fixture.bob.user)
        var pages: [[VoiceMessage]] = []
        var cursor: VoiceMessageID?
        repeat {
            let (page, next) = try await fixture.list(fixture.alice, with: fixture.bob.user, before: cursor, limit: 3)
            pages.append(page)
            cursor = next
        } while cursor != nil
        #expect(pages.map(\.count) == [3, 3, 1])
        #expect(Array(pages.joined()) == sent)
    }

    @Test func aRepeatSendsNothingTwice() async throws {
        let fixture = try await VoiceFixture()
        let clientID = ClientID.make(at: fixture.scratch.clock.now)
        let first = try await fixture.send(clientID, from: fixture.alice, to: fixture.bob.user)
        let second = try await fixture.send(clientID, from: fixture.alice, to: fixture.bob.user)
        #expect(!first.isDuplicate && second.isDuplicate)
        #expect(second.message == first.message)
        #expect(try await fixture.list(fixture.alice, with: fixture.bob.user).0.count == 1)
        #expect(fixture.scratch.published.count == 2)
        let error = await #expect(throws: Problem.self) {
            _ = try await fixture.send(clientID, from: fixture.alice, to: fixture.bob.user, hash: [2])
        }
        #expect(error?.kind == .clientIDReused)
        // The id is the sender's own.
        #expect(try await !fixture.send(clientID, from: fixture.bob, to: fixture.alice.user).isDuplicate)
    }

    @Test func onlyItsSenderDeletesAMessage() async throws {
        let fixture = try await VoiceFixture()
        let commands = fixture.commands
        let (alice, bob) = (fixture.alice, fixture.bob)
        let sent = try await fixture.send(from: alice, to: bob.user).message
        #expect(try await fixture.scratch.store.read { try $0.mediaFile(sent.file)?.resource } == sent.id.text)
        #expect(await fixture.problem { _ = try commands.remove(sent.id, by: bob, in: $0) } == .forbidden)
        #expect(await fixture.problem { _ = try commands.remove(sent.id, by: alice, in: $0) } == nil)
        #expect(await fixture.problem { _ = try commands.remove(sent.id, by: alice, in: $0) } == .notFound)
        #expect(try await fixture.list(bob, with: alice.user).0.isEmpty)
        #expect(try await fixture.scratch.store.read { try $0.mediaFile(sent.file) } == nil)
        #expect(try await !fixture.scratch.store.read { try commands.mayListen(sent.id, bob.user, in: $0) })
        let changes = fixture.scratch.published.suffix(2)
        #expect(changes.map(\.type) == ["voice.removed", "voice.removed"])
        #expect(changes.allSatisfy { $0.data.contains(sent.id.text) })
    }

    /// Messages sent before a block stay with both users. Those sent during it are visible only to the sender.
    @Test func whatIsSentDuringABlockIsWithheld() async throws {
        let fixture = try await VoiceFixture()
        let commands = fixture.commands
        let (alice, bob) = (fixture.alice, fixture.bob)
        let before = try await fixture.send(from: alice, to: bob.user).message
        _ = try await fixture.scratch.store.write { try $0.block(alice.user, by: bob.user) }
        let changes = fixture.scratch.published.count
        fixture.scratch.clock.advance(seconds: 1)
        let clientID = ClientID.make(at: fixture.scratch.clock.now)
        let withheld = try await fixture.send(clientID, from: alice, to: bob.user).message
        #expect(try await fixture.send(clientID, from: alice, to: bob.user).isDuplicate)
        #expect(fixture.scratch.published.dropFirst(changes).map(\.stream) == [.user(alice.user)])
        // Its sender has it as any other.
        #expect(try await fixture.list(alice, with: bob.user).0 == [withheld, before])
        #expect(try await fixture.scratch.store.read { try commands.get(withheld.id, by: alice, in: $0) } == withheld)
        #expect(try await fixture.scratch.store.read { try commands.mayListen(withheld.id, alice.user, in: $0) })
        // Its recipient has nothing and is not notified of any change.
        #expect(try await fixture.list(bob, with: alice.user).0 == [before])
        for work: @Sendable (StoreTransaction) throws -> Void in [
            { _ = try commands.get(withheld.id, by: bob, in: $0) },
            { _ = try commands.remove(withheld.id, by: bob, in: $0) },
            { _ = try commands.transcript(of: withheld.id, by: bob, in: $0) },
            { _ = try commands.requestTranscript(of: withheld.id, by: bob, in: $0) },
        ] {
            #expect(await fixture.problem(work) == .notFound)
        }
        #expect(try await !fixture.scratch.store.read { try commands.mayListen(withheld.id, bob.user, in: $0) })
        #expect(
            await fixture.problem { _ = try commands.requestTranscript(of: withheld.id, by: alice, in: $0) } == nil)
        #expect(try await fixture.scratch.store.read { try $0.untranscribed() } == [withheld])
        // The other way nothing is withheld, and a block that ends brings nothing back.
        fixture.scratch.clock.advance(seconds: 1)
        let answer = try await fixture.send(from: bob, to: alice.user).message
        _ = try await fixture.scratch.store.write { try $0.unblock(alice.user, by: bob.user) }
        fixture.scratch.clock.advance(seconds: 1)
        let after = try await fixture.send(from: alice, to: bob.user).message
        #expect(try await fixture.list(bob, with: alice.user).0 == [after, answer, before])
        #expect(try await fixture.list(alice, with: bob.user).0 == [after, answer, withheld, before])
        var pages: [VoiceMessage] = []
        var cursor: VoiceMessageID?
        repeat {
            let (page, next) = try await fixture.list(alice, with: bob.user, before: cursor, limit: 1)
            pages += page
            cursor = next
        } while cursor != nil
        #expect(pages == [after, answer, withheld, before])
        #expect(await fixture.problem { _ = try commands.remove(withheld.id, by: alice, in: $0) } == nil)
        let ofBob = fixture.scratch.published.filter { $0.stream == .user(bob.user) }
        #expect(ofBob.allSatisfy { !$0.data.contains(withheld.id.text) })
    }

    @Test func disabledUsersNeitherSendNorListen() async throws {
        let fixture = try await VoiceFixture()
        let commands = fixture.commands
        let (alice, bob) = (fixture.alice, fixture.bob)
        let sent = try await fixture.send(from: alice, to: bob.user).message
        _ = try await fixture.scratch.store.write {
            try $0.sql.execute("UPDATE users SET disabled_at = 1 WHERE id = ?1", [.id(bob.user)])
        }
        #expect(try await !fixture.scratch.store.read { try commands.mayListen(sent.id, bob.user, in: $0) })
        #expect(try await fixture.scratch.store.read { try commands.mayListen(sent.id, alice.user, in: $0) })
        let gone = await #expect(throws: Problem.self) { _ = try await fixture.send(from: alice, to: bob.user) }
        #expect(gone?.kind == .notFound)
        let disabled = await #expect(throws: Problem.self) { _ = try await fixture.send(from: bob, to: alice.user) }
        #expect(disabled?.kind == .forbidden)
    }

    @Test func aMessageHasAudioWithinItsLimits() async throws {
        let fixture = try await VoiceFixture()
        let (alice, bob) = (fixture.alice, fixture.bob)
        for duration in [0, 300_001] {
            let error = await #expect(throws: Problem.self) {
                _ = try await fixture.send(from: alice, to: bob.user, durationMs: duration)
            }
            #expect(error?.kind == .invalidRequest && error?.field == "body")
        }
        let own = await #expect(throws: Problem.self) { _ = try await fixture.send(from: alice, to: alice.user) }
        #expect(own?.field == "to")
        #expect(fixture.scratch.published.isEmpty)
    }

    @Test func messagesCountForWhoSentThem() async throws {
        var fixture = try await VoiceFixture()
        var rules = VoiceRules()
        rules.quota = MediaQuota(userBytes: 9_000)
        fixture.commands = VoiceCommands(rules: rules)
        let (alice, bob, store, commands) = (fixture.alice, fixture.bob, fixture.scratch.store, fixture.commands)
        let first = try await fixture.send(from: alice, to: bob.user).message
        _ = try await fixture.send(from: alice, to: bob.user)
        await #expect {
            _ = try await fixture.send(from: alice, to: bob.user)
        } throws: { error in
            let problem = error as? Problem
            return problem?.kind == .quotaExceeded && problem?.members == ["used": "8000", "allowed": "9000"]
        }
        #expect(try await store.read { try $0.mediaBytes(of: alice.user) } == 8_000)
        #expect(try await store.read { try $0.mediaBytes(of: bob.user) } == 0)
        _ = try await fixture.send(from: bob, to: alice.user)
        _ = try await store.write { try commands.remove(first.id, by: alice, in: $0) }
        _ = try await fixture.send(from: alice, to: bob.user)
    }
}
