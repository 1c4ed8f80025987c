import Foundation
import Testing

@testable import SwitchboardClient

/// What is written without a connection and sent by another run of the app, through the SDK and the real server.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct QueuedWriteScenarios {
    private func options(_ folder: String) -> SwitchboardOptions {
        var options = SwitchboardOptions()
        options.store = .directory(folder)
        return options
    }

    private func sounds(in folder: String) -> [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return all.filter { $0.contains(".sounds/") }
    }

    /// Another device has ended the session while the app was away, and the server says so to whoever asks for another
    /// token.
    @Test func whatWaitsIsErasedAfterASessionThatWasEnded() async throws {
        let server = try await RealServer()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ended-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (ben, benMe) = try await server.person("Ben")
        let first = try server.client { $0.store = .directory(folder) }
        let email = "ann-\(UUID().uuidString)@example.org"
        let annMe = try await first.signUp(email: email, password: "correct horse", displayName: "Ann")
        try await first.friends.request(benMe.id)
        try await ben.friends.accept(annMe.id)
        let here = try await first.conversations.direct(with: benMe.id).id
        try await first.messages(in: here).send("online")
        _ = await state(of: first.messages(in: here)) { $0.messages.map(\.delivery) == [.sent] && $0.isCurrent }
        let tokens = try #require(await first.tokens)
        await first.close()

        let unconnected = try Switchboard("http://127.0.0.1:9", options: options(folder))
        await unconnected.use(tokens)
        try await unconnected.messages(in: here).send("never sent")
        await unconnected.close()
        let files = { try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sqlite") } }
        #expect(try files().count == 1)

        let elsewhere = try server.client()
        try await elsewhere.signIn(email: email, password: "correct horse")
        try await elsewhere.revoke(try #require(await elsewhere.signIns().first { !$0.current }).id)
        let again = try Switchboard(server.address, options: options(folder))
        await again.use(tokens)
        let reading = Task { for await _ in again.messages(in: here) {} }
        try await eventually {
            try files().isEmpty
        } seen: {
            try files()
        }
        reading.cancel()
        for client in [again, elsewhere, ben] { await client.close() }
    }

    /// The process is killed between recording and sending, and once more between sending and the answers.
    @Test func whatIsRecordedOfflineIsSentOnceByTheNextRun() async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "ContainersTests/Fixtures")
        let sound = try Data(contentsOf: fixtures.appending(path: "tone.webm"))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("voice-\(UUID().uuidString)").path
        let killed = folder + "-killed"
        defer { for path in [folder, killed] { try? FileManager.default.removeItem(atPath: path) } }
        let (ben, benMe) = try await server.person("Ben")
        let first = try server.client(through: proxy.port) { $0.store = .directory(folder) }
        let annMe = try await first.signUp(
            email: "ann-\(UUID().uuidString)@example.org", password: "correct horse", displayName: "Ann")
        try await first.friends.request(benMe.id)
        try await ben.friends.accept(annMe.id)
        let here = try await first.conversations.direct(with: benMe.id).id
        let mine = first.messages(in: here)
        try await mine.send("online")
        _ = await state(of: mine) { $0.messages.map(\.delivery) == [.sent] && $0.isCurrent }
        let tokens = try #require(await first.tokens)

        try await proxy.close()
        await connection(of: first, is: false)
        try await mine.send("before")
        let voice = try await mine.sendVoice(sound, durationMs: 1_250)
        try await mine.send("after", replyTo: voice)
        try await mine.send("in its thread", inThreadOf: voice)
        let dropped = try await mine.sendVoice(sound)
        try await mine.delete(dropped)
        try await mine.mute(Mute(mentions: true))
        try await mine.setPinned(true)
        let later = try await mine.schedule("later", at: Date(timeIntervalSinceNow: 3_600))
        try await mine.reschedule(later, to: "later, changed")
        let never = try await mine.schedule("never", at: Date(timeIntervalSinceNow: 3_600))
        try await mine.unschedule(never)
        let offline = try #require(await state(of: mine) { $0.messages.count == 5 })
        #expect(offline.messages[2].id == voice && offline.messages[2].voice?.durationMs == 1_250)
        #expect(offline.messages[2].delivery == .sending && !offline.messages[2].isDeleted)
        #expect(offline.membership?.muted?.mentions == true && offline.membership?.pinned == true)
        #expect(offline.writes.count == 3, "\(offline.writes)")
        #expect(await mine.waitingSound(of: voice) == sound)
        #expect(sounds(in: folder).count == 1)

        // What a process leaves that is killed now, with the sound of an entry that it did not store.
        try await first.realtime.withoutWrites { try FileManager.default.copyItem(atPath: folder, toPath: killed) }
        await first.close()
        let directory = try #require(
            try FileManager.default.contentsOfDirectory(atPath: killed).first { $0.hasSuffix(".sounds") })
        try Data("half".utf8).write(to: URL(filePath: killed).appending(path: directory).appending(path: "orphan"))
        #expect(sounds(in: killed).count == 2)

        // Another process that does not know what the first one has sent: as if that was killed before the answers.
        let twice = killed + "-twice"
        defer { try? FileManager.default.removeItem(atPath: twice) }
        try FileManager.default.copyItem(atPath: killed, toPath: twice)
        let again = try Switchboard(server.address, options: options(killed))
        await again.use(tokens)
        let sent = try #require(
            await state(of: again.messages(in: here)) { state in
                state.messages.count == 5 && state.messages.allSatisfy { $0.delivery == .sent } && state.writes.isEmpty
            })
        #expect(sent.messages.map(\.text) == ["online", "before", nil, "after", "in its thread"])
        #expect(sent.messages[2].id == voice && sent.messages[2].voice?.waveform.count == 100)
        #expect(sent.messages.map(\.replyTo) == [nil, nil, nil, 3, nil] && sent.messages[4].thread == 3)
        #expect(sent.membership?.muted?.mentions == true && sent.membership?.pinned == true)
        #expect(try await again.messages(in: here).scheduled().map(\.text) == ["later, changed"])
        #expect(sounds(in: killed).isEmpty)
        await again.close()

        let third = try Switchboard(server.address, options: options(twice))
        await third.use(tokens)
        let done = try #require(
            await state(of: third.messages(in: here)) { state in
                state.messages.count == 5 && state.messages.allSatisfy { $0.delivery == .sent } && state.writes.isEmpty
            })
        #expect(done.messages.map(\.id) == sent.messages.map(\.id) && sounds(in: twice).isEmpty)
        #expect(try await third.messages(in: here).scheduled().map(\.text) == ["later, changed"])
        let received = await state(of: ben.messages(in: here)) { $0.messages.count == 5 }
        #expect(received?.messages.map(\.id) == sent.messages.map(\.id))
        let played = try #require(received?.messages[2].message)
        #expect(try await ben.audio(of: played).starts(with: Data("OggS".utf8)))
        for client in [third, ben] { await client.close() }
        withExtendedLifetime(server) {}
    }

    @Test func signingOutErasesTheSoundsThatWait() async throws {
        let server = try await RealServer()
        let proxy = try await CuttingProxy(to: server.port)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("out-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ann = try server.client(through: proxy.port) { $0.store = .directory(folder) }
        _ = try await ann.signUp(
            email: "ann-\(UUID().uuidString)@example.org", password: "correct horse", displayName: "Ann")
        let notes = ann.messages(in: try await ann.conversations.notes().id)
        _ = await state(of: notes) { $0.isCurrent }
        try await proxy.close()
        await connection(of: ann, is: false)
        try await notes.sendVoice(Data("a sound".utf8))
        #expect(sounds(in: folder).count == 1)
        try? await ann.signOut()
        #expect(sounds(in: folder).isEmpty)
        await ann.close()
        withExtendedLifetime(server) {}
    }
}
