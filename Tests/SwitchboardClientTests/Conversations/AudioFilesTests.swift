import Foundation
import GRDB
import Testing

@testable import SwitchboardClient

/// The sounds of voice messages that wait: each in a file as long as its entry is stored, and no longer.
struct AudioFilesTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sounds-\(newUUID())")
    private var path: String { folder.appendingPathComponent("conversations-ann.sqlite").path }
    private let sound = Data("a sound".utf8)

    private func files() -> [String] {
        let directory = AudioFiles.directory(of: URL(fileURLWithPath: path))
        return ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
    }

    private func queue(_ store: ConversationStore, _ names: [String]) throws -> WriteQueue {
        var queue = WriteQueue(seed: 1)
        for name in names {
            try store.sounds.write(sound, as: name)
            try queue.sendVoice(
                .init(name: name, byteCount: sound.count, durationMs: 5), in: "c1", as: MessageClientID(name), at: 0)
        }
        try store.save(queue, queue.takeChanges())
        return queue
    }

    @Test("a sound is there until its entry is gone")
    func kept() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try ConversationStore(path: path)
        var queue = try queue(store, ["one", "two"])
        #expect(files() == ["one", "two"])
        #expect(store.sounds.read("one", byteCount: sound.count) == sound)
        // One that was cut short is none.
        #expect(store.sounds.read("one", byteCount: sound.count + 1) == nil)
        let isGone = queue.discard("one")
        #expect(isGone)
        #expect(files() == ["one", "two"], "not before that is stored")
        try store.save(queue, queue.takeChanges())
        #expect(files() == ["two"])
        store.erase()
        #expect(files().isEmpty && !FileManager.default.fileExists(atPath: path))
    }

    @Test("at the start, sounds without an entry are removed")
    func orphans() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try ConversationStore(path: path)
        _ = try queue(store, ["one"])
        try store.sounds.write(sound, as: "orphan")
        try store.removeUnusedSounds()
        #expect(files() == ["one"])
        // Those of entries of a later version stay.
        try store.sounds.write(sound, as: "theirs")
        try store.database.write { database in
            try database.execute(
                sql: "INSERT INTO entries VALUES (9, ?)", arguments: [Data(#"{"id":9,"kind":"later"}"#.utf8)])
        }
        try store.removeUnusedSounds()
        #expect(files() == ["one", "theirs"])
        store.close()
    }

    @Test("all sounds together are bounded")
    func bounded() throws {
        var limits = WriteQueue.Limits()
        limits.soundBytes = 10
        var queue = WriteQueue(seed: 1, limits: limits)
        try queue.sendVoice(.init(name: "a", byteCount: 6, durationMs: 0), in: "c1", as: "m1", at: 0)
        #expect(throws: SwitchboardError.overflow) {
            var full = queue
            try full.sendVoice(.init(name: "b", byteCount: 5, durationMs: 0), in: "c2", as: "m2", at: 0)
        }
        // One that the server has takes no room here.
        var onServer = WriteEntry.Sound(name: "c", byteCount: 50, durationMs: 0)
        onServer.isOnServer = true
        try queue.sendVoice(onServer, in: "c1", as: "m3", at: 0)
        let isGone = queue.discard("m1")
        let changes = queue.takeChanges()
        #expect(isGone && changes.sounds == ["a"])
        try queue.sendVoice(.init(name: "d", byteCount: 10, durationMs: 0), in: "c1", as: "m4", at: 0)
        #expect(queue.entries.map(\.clientID) == ["m3", "m4"])
    }

    @Test("every kind of write is read again as it was stored")
    func stored() throws {
        let store = try ConversationStore(path: nil)
        var queue = WriteQueue(seed: 1)
        let time = Date(timeIntervalSince1970: 1_700_000_000.25)
        let changes: [MembershipChange] = [
            .muted(nil), .pinned(true), .archived(false), .markedUnread(true), .receipts(nil),
            .draft(Draft(text: "half", replyTo: 2, revision: 3)),
        ]
        for change in changes { try queue.change(change, in: "c1", at: 0) }
        try queue.change(.muted(Mute(until: time, mentions: true)), in: "c2", at: 0)
        try queue.change(.receipts(false), in: "c2", at: 0)
        try queue.schedule("later", at: time, replyTo: .number(1), in: "c1", as: "s1", at: 0)
        try queue.reschedule("s2", to: nil, at: time, in: "c1", at: 0)
        try queue.unschedule("s3", in: "c1", at: 0)
        try queue.sendNow("s4", in: "c1", at: 0)
        try queue.write(.listen, .number(4), in: "c1", at: 0)
        try queue.send("reply", replyTo: nil, thread: .waiting("m1"), in: "c1", as: "m2", at: 0)
        try store.save(queue, queue.takeChanges())
        #expect(try store.entries().entries == queue.entries && queue.entries.count == 14)
    }
}
