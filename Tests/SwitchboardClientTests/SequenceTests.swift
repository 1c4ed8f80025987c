import Foundation
import NIOPosix
import Synchronization
import Testing

@testable import SwitchboardClient

/// Which sequences outlive a sign-in, and what ends them.
struct SequenceTests {
    /// A client whose connection never opens, since its tokens take longer than any test.
    private func client() async throws -> Switchboard {
        let switchboard = try Switchboard("http://127.0.0.1:1")
        await switchboard.credentials.use(Self.slowTokens)
        return switchboard
    }

    private static let slowTokens = Credentials.Source.provider {
        try await Task.sleep(for: .seconds(60))
        return "token"
    }

    private func ring(_ id: CallID, _ user: UserID, on switchboard: Switchboard) async {
        let media = Participant.Media(audio: true, video: false, screen: false, held: false)
        let call = Call(
            id: id, kind: .audio, mode: "direct", status: .ringing, version: 1, caller: "ann",
            createdAt: Date(timeIntervalSince1970: 0),
            participants: [
                Participant(user: user, displayName: "Ben", state: .invited, connected: false, media: media)
            ])
        let greeting = Greeting(session: "s", user: user, endpoint: "e", heartbeat: 20, resumed: nil)
        await switchboard.realtime.execute(.greeted(greeting))
        await switchboard.realtime.deliver(
            .snapshot(.call(call), StreamPosition(epoch: "x", sequence: 1)), of: "call:\(id)")
    }

    @Test(.timeLimit(.minutes(1))) func incomingCallsOutliveSignIns() async throws {
        let switchboard = try await client()
        var calls = await switchboard.incomingCalls.makeAsyncIterator()
        await ring("c1", "ben", on: switchboard)
        #expect(await calls.next()?.id == "c1")
        await switchboard.realtime.changeUser()
        await switchboard.realtime.stop(.disconnected(code: 4003, reason: "replaced"))
        await switchboard.use(provider: { "another token" })
        await ring("c2", "cleo", on: switchboard)
        #expect(await calls.next()?.id == "c2")
        await switchboard.realtime.changeUser()
        await switchboard.close()
        #expect(await calls.next() == nil)
    }

    /// After a stop, what still rings belongs to a new connection: its live call is another one.
    @Test(.timeLimit(.minutes(1))) func whatStillRingsIsAnnouncedAgain() async throws {
        let switchboard = try await client()
        var calls = await switchboard.incomingCalls.makeAsyncIterator()
        await ring("c1", "ben", on: switchboard)
        let first = try #require(await calls.next())
        await switchboard.realtime.stop(.disconnected(code: 4003, reason: "replaced"))
        await ring("c1", "ben", on: switchboard)
        let second = try #require(await calls.next())
        #expect(second.id == "c1" && second !== first)
        await switchboard.close()
    }

    @Test(.timeLimit(.minutes(1))) func closingEndsAllSequencesForGood() async throws {
        let switchboard = try await client()
        var early = await switchboard.incomingCalls.makeAsyncIterator()
        var profiles = await switchboard.profileChanges.makeAsyncIterator()
        var tokens = await switchboard.tokenChanges.makeAsyncIterator()
        #expect(await tokens.next() == .some(nil))
        await switchboard.close()
        #expect(await early.next() == nil)
        #expect(await profiles.next() == nil)
        #expect(await tokens.next() == nil)
        var late = await switchboard.incomingCalls.makeAsyncIterator()
        #expect(await late.next() == nil)
        await switchboard.use(provider: { "another token" })
        var afterSignIn = await switchboard.incomingCalls.makeAsyncIterator()
        #expect(await afterSignIn.next() == nil)
        await #expect(throws: SwitchboardError.closed) { try await switchboard.me() }
        #expect(await switchboard.realtime.machine.connectionState == .stopped(.closed))
    }

    @Test func signingInConnectsOnlyIfSomebodyReads() async throws {
        let switchboard = try await client()
        await switchboard.use(provider: { "token" })
        #expect(await switchboard.realtime.machine.connectionState == .stopped(.signedOut))
        let calls = await switchboard.incomingCalls
        await switchboard.realtime.changeUser()
        #expect(await switchboard.realtime.machine.connectionState == .stopped(.signedOut))
        // The token tells at once whose store it is, and opens no connection.
        let isFirst = Mutex(true)
        await switchboard.credentials.use(
            .provider {
                let isFirst = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if !isFirst { try await Task.sleep(for: .seconds(60)) }
                return "token"
            })
        await switchboard.realtime.userChanged()
        #expect(await switchboard.realtime.machine.connectionState == .connecting)
        await switchboard.close()
        for await _ in calls {}
    }

    @Test(.timeLimit(.minutes(1))) func connectionChangesRepeatNothing() async throws {
        let switchboard = try await client()
        let changes = await switchboard.connectionChanges
        let realtime = switchboard.realtime
        for connected in [false, true, true, false, false, true] { await realtime.setConnected(connected) }
        // Disconnecting, losing the connection and stopping each report the same.
        await realtime.disconnect()
        await realtime.lost(7, nil)
        await switchboard.close()
        var seen: [Bool] = []
        for await connected in changes { seen.append(connected) }
        #expect(seen == [false, true, false, true, false])
    }

    @Test(.timeLimit(.minutes(1))) func aSlowReaderOfConnectionChangesSeesNoRepeatsEither() async throws {
        let switchboard = try await client()
        let changes = await switchboard.connectionChanges
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == false)
        // Nine changes into a buffer of eight: the first is dropped, so that the next equals what was read.
        for number in 0..<9 { await switchboard.realtime.setConnected(number.isMultiple(of: 2)) }
        var seen = [false]
        while seen.count < 8, let connected = await iterator.next() { seen.append(connected) }
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 }, "\(seen)")
        #expect(seen.count == 8)
        await switchboard.close()
    }
}
