import Accounts
import Messaging
import Model
import Notifications
import Storage
import TestSupport
import Testing
import Tokens
import Transfer

/// The commands over the store: what is written, and what is published of it.
@Suite struct ImportTests {
    private static let source = "old"

    private func records(_ lines: [String]) throws -> [ImportStep] {
        try lines.map { .record(try TransferReader.read(Array($0.utf8)).record, source: Self.source) }
    }

    private func run(
        _ steps: [ImportStep], continues: Bool = false, in scratch: ScratchImports
    ) async throws -> [ImportOutcome] {
        let commands = ImportCommands(secrets: SystemSecrets())
        return try await scratch.store.write { try commands.run(steps, continues: continues, in: $0) }.value
    }

    private static let people = [
        #"{"type":"user","id":"ann","name":"Ann"}"#, #"{"type":"user","id":"ben","name":"Ben"}"#,
    ]
    private static let direct = #"{"type":"conversation","id":"c","kind":"direct","members":["ann","ben"]}"#

    private static func message(_ id: String, _ author: String, _ at: Int) -> String {
        #"{"type":"message","id":"\#(id)","conversation":"c","author":"\#(author)","sentAt":\#(at),"text":"\#(id)"}"#
    }

    private static let end = ImportStep.finish(conversation: "c", source: source)

    @Test func aConversationIsPublishedOnceAndWhole() async throws {
        let scratch = try await ScratchImports()
        let lines = Self.people + [Self.direct] + (1...40).map { Self.message("m\($0)", "ann", $0) }
        let outcomes = try await run(records(lines), in: scratch)
        #expect(outcomes.allSatisfy { $0 == .new })
        #expect(scratch.updates.isEmpty)
        let users = try await scratch.store.read { try $0.users(after: nil, limit: 10).map(\.id) }
        for user in users {
            #expect(try await scratch.store.read { try $0.inboxEntries(of: user).isEmpty })
        }
        #expect(try await run([Self.end], in: scratch) == [.new])
        let updates = scratch.updates
        #expect(updates.count == 1)
        let update = try #require(updates.first)
        #expect(update.rows.isEmpty)
        #expect(update.movesEverybody)
        #expect(update.access == Dictionary(uniqueKeysWithValues: users.map { ($0, .changed) }))
        let commands = ConversationCommands()
        for user in users {
            let page = try await scratch.store.read { store in
                try commands.page(.newest, of: update.conversation, limit: 100, by: user, in: store)
            }
            #expect(page.messages.map(\.number) == Array(1...40))
            #expect(page.messages.map(\.text) == (1...40).map { "m\($0)" })
            let entry = try await scratch.store.read { try $0.inboxEntry(of: user, for: update.conversation) }
            #expect(entry?.counter == update.counter)
            #expect(try #require(entry).activity < 0)
            #expect(
                try await scratch.store.read { try commands.unread(of: user, in: [update.conversation], store: $0) }
                    == [update.conversation: UnreadCount()])
        }
        // What follows is published as ever.
        _ = try await scratch.store.write { store in
            try commands.send(
                OutgoingMessage(clientID: .make(at: store.now), text: MessageText("now"), digest: []),
                to: update.conversation, by: users[0], in: store)
        }
        #expect(scratch.updates.last?.rows.count == 1)
        #expect(scratch.updates.last?.after == update.upTo)
        let entry = try await scratch.store.read { try $0.inboxEntry(of: users[0], for: update.conversation) }
        #expect(try #require(entry).activity > 0)
    }

    @Test func whatHasDisappearedComesOverWithoutItsText() async throws {
        let scratch = try await ScratchImports()
        // In a second, a second ago, and never.
        let lines =
            Self.people + [
                #"{"type":"conversation","id":"c","kind":"direct","members":["ann","ben"],"disappearAfter":60}"#,
                Self.message("m1", "ann", 1).replacing("}", with: #","expiresAt":1800000001000}"#),
                Self.message("m2", "ann", 2).replacing("}", with: #","expiresAt":1799999999000,"pinned":true}"#),
                Self.message("m3", "ben", 3),
            ]
        let steps = try records(lines) + [Self.end]
        let outcomes = try await run(steps, in: scratch)
        #expect(outcomes[4] == .newWithout("it has disappeared meanwhile: without its text"))
        #expect(try await run(steps, in: scratch) == steps.map { _ in .same })
        try await scratch.store.read { store in
            let id = try #require(try store.exportedConversation(after: nil))
            #expect(try store.conversation(id)?.disappearAfter == 60 && store.conversation(id)?.pins == [])
            let messages = try store.exportedMessages(in: id, after: 0, limit: 9)
            #expect(messages.map(\.text) == ["m1", nil, "m3"])
            #expect(messages.map { $0.expiresAt?.milliseconds } == [1_800_000_001_000, 1_799_999_999_000, nil])
            #expect(messages[1].deletedAt == messages[1].expiresAt)
            #expect(try store.nextExpiry() == messages[0].expiresAt)
        }
    }

    @Test func settingsForNotificationsComeOverAndRegistrationsDoNot() async throws {
        let scratch = try await ScratchImports()
        func line(_ time: String) -> String {
            #"{"type":"user","id":"ann","name":"Ann","notifications":"none","#
                + #""quietHours":{"from":"22:00","to":"07:00","zone":"Europe/Berlin"},"#
                + #""pushes":[{"device":"d","kind":"fcm","createdAt":0,"updatedAt":"\#(time)"}]}"#
        }
        #expect(try await run(records([line("2026-01-01T00:00:00.000Z")]), in: scratch) == [.new])
        // A registration that was renewed makes it no other user.
        #expect(try await run(records([line("2026-01-02T00:00:00.000Z")]), in: scratch) == [.same])
        let user = try #require(try await scratch.store.read { try $0.users(after: nil, limit: 2) }.first)
        #expect(user.notifications == NotificationLevel.none)
        #expect(user.quietHours == QuietHours(from: 22 * 60, to: 7 * 60, zone: "Europe/Berlin"))
        #expect(try await scratch.store.read { try $0.pushRegistrations(of: user.id) }.isEmpty)
    }

    @Test func everyStepTwiceChangesNothing() async throws {
        let scratch = try await ScratchImports()
        let lines = Self.people + [Self.direct, Self.message("m1", "ann", 1), Self.message("m2", "ben", 1)]
        let steps = try records(lines) + [Self.end]
        _ = try await run(steps, in: scratch)
        let before = scratch.updates
        #expect(try await run(steps, in: scratch) == steps.map { _ in .same })
        #expect(scratch.updates == before)
    }

    /// Messages count from when they were sent, and none is erased while its conversation is being imported.
    @Test func whatIsOldIsErasedOnceItIsImported() async throws {
        let scratch = try await ScratchImports()
        let now = try await scratch.store.read { Int($0.now.milliseconds) }
        let lines =
            Self.people + [Self.direct, Self.message("m1", "ann", 1), Self.message("m2", "ben", now - 3_600_000)]
        _ = try await run(records(lines), in: scratch)
        func erase() async throws -> Int {
            try await scratch.store.write {
                try ConversationCommands().eraseOldMessages(keepDays: 1, limit: 10, in: $0).erased
            }.value
        }
        #expect(try await erase() == 0)
        _ = try await run([Self.end], in: scratch)
        #expect(try await erase() == 1)
        #expect(try await erase() == 0)
    }

    @Test func whatIsRefusedWritesNothingAndStopsItsConversation() async throws {
        let scratch = try await ScratchImports()
        let lines =
            Self.people + [
                Self.direct, Self.message("m1", "eve", 1), Self.message("m2", "ann", 2),
            ]
        let outcomes = try await run(records(lines) + [Self.end], in: scratch)
        #expect(outcomes.prefix(3).allSatisfy { $0 == .new })
        #expect(outcomes[3] == .refused("author: the user eve was not imported."))
        #expect(outcomes.suffix(2) == [.stopped, .stopped])
        #expect(scratch.updates.isEmpty)
        let rest = try await run(records(lines) + [Self.end], continues: true, in: scratch)
        #expect(rest.suffix(2) == [.new, .new])
    }

    /// A member's line whose end is refused leaves no part of it behind.
    @Test func spansAreCheckedBeforeAnythingIsWritten() async throws {
        let scratch = try await ScratchImports()
        let group = #"{"type":"conversation","id":"c","kind":"group"}"#
        func member(_ more: String) -> String { #"{"type":"member","conversation":"c","user":"ann"\#(more)}"# }
        let wrong = [
            #","spans":[{"after":"m9"}]"#, #","spans":[{"after":"m2","until":"m1"}]"#, #","spans":[{},{}]"#,
            #","spans":[{"until":"m1"}]"#, #","read":"m9""#, #","state":"invited""#,
        ].map(member)
        let lines = Self.people + [group, Self.message("m1", "ann", 1), Self.message("m2", "ann", 2)] + wrong
        let outcomes = try await run(records(lines), continues: true, in: scratch)
        for outcome in outcomes.suffix(wrong.count) {
            guard case .refused = outcome else {
                Issue.record("\(outcome)")
                continue
            }
        }
        let end = try await run([Self.end], in: scratch)
        #expect(end == [.refused("The group has no members: it needs lines of type member.")])
        #expect(try await run(records([member("")]) + [Self.end], in: scratch) == [.new, .new])
        let conversation = try #require(scratch.updates.first?.conversation)
        let owner = try await scratch.store.read { try $0.nextOwner(of: conversation) }
        #expect(owner?.role == .owner)
    }

    @Test func aDeletedUserDoesNotComeBack() async throws {
        let scratch = try await ScratchImports()
        let steps = try records(
            Self.people + [Self.direct, Self.message("m1", "ann", 1), Self.message("m2", "ben", 2)])
        _ = try await run(Array(steps.prefix(4)), in: scratch)
        let users = try await scratch.store.read { try $0.users(after: nil, limit: 10) }
        let ben = try #require(users.first { $0.displayName == "Ben" })
        _ = try await scratch.store.write { store in
            var deleted = ben
            (deleted.displayName, deleted.deletedAt, deleted.disabledAt) = (DeletedUser.name, store.now, store.now)
            _ = try store.removeIdentities(of: ben.id)
            try store.update(deleted)
        }
        let outcomes = try await run(steps, in: scratch)
        #expect(outcomes.prefix(4).allSatisfy { $0 == .same })
        #expect(outcomes.last == .newWithout("its author is deleted here: without its text"))
        #expect(try await scratch.store.read { try $0.users(after: nil, limit: 10).count } == 2)
        // Nothing of them is left that would confirm a guess.
        let digests = try await scratch.store.read { store in
            try store.sql.query("SELECT digest FROM imported WHERE user_id = ?1", [.id(ben.id)]).map { try $0.blob(0) }
        }
        #expect(digests == [[]])
    }
}
