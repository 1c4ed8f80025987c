import Accounts
import Calls
import Model
import Storage
import TestSupport
import Testing
import Webhooks

/// Events are written by the commands whose changes they tell about.
@Suite struct TransactionEventTests {
    private let commands = CallCommands()

    private func json(_ event: EventRecord) -> String { event.data }

    @Test func aCallRingsEachCalleeWithItsDevices() async throws {
        let scratch = try await ScratchWebhooks()
        _ = try await scratch.add(url: nil)
        let anna = try await scratch.user("Anna", ext: "a-1"), ben = try await scratch.user("Ben", ext: "b-1")
        let carl = try await scratch.user("Carl")
        let (phone, laptop, old) = try await scratch.write { store in
            let devices: [DeviceID] = (0..<3).map { _ in .make(at: store.now) }
            for (index, device) in devices.enumerated() {
                try store.save(
                    DeviceRecord(
                        id: device, user: ben, name: "Device \(index)", platform: "ios", createdAt: store.now,
                        lastSeenAt: store.now.adding(seconds: Int64(-index))))
                let signIn = SignInRecord(
                    id: .make(at: store.now), user: ben, device: device, createdAt: store.now, lastUsedAt: store.now,
                    rotation: RefreshRotation(
                        familyHash: [], used: 0, usedHash: [], usedAt: store.now, next: [],
                        expiresAt: store.now.adding(seconds: 600)), endedAt: index == 2 ? store.now : nil)
                try store.insert(signIn)
                let endpoint = EndpointRecord(
                    id: .make(at: store.now), user: ben, secretHash: [], signIn: signIn.id, usedAt: store.now)
                _ = try store.insert(endpoint)
                if index != 1 { scratch.connected.update { $0.insert(endpoint.id) } }
            }
            // Ben does not want Carl's calls.
            _ = try store.block(carl, by: ben)
            return (devices[0], devices[1], devices[2])
        }
        let commands = commands
        let outcome = try await scratch.write { store in
            try commands.create(
                CreateCall(clientID: .make(at: store.now), callees: [ben], kind: .video),
                by: Principal(user: anna, endpoint: .make(at: store.now)), id: .make(at: store.now), at: store.now,
                in: store)
        }
        let ring = try #require(try await scratch.pulled().last)
        #expect(ring.type == .callRinging && ring.user == ben && ring.call == outcome.call.id)
        #expect(ring.expiresAt == scratch.time.now.adding(seconds: 60))
        let data = ring.data
        #expect(data.contains(#""caller":{"user":"\#(anna)","externalID":"a-1","displayName":"Anna"}"#))
        #expect(data.contains(#""user":"\#(ben)","externalID":"b-1""#))
        #expect(data.contains(#""id":"\#(phone)","name":"Device 0","platform":"ios","isConnected":true"#))
        #expect(
            data.contains(#""id":"\#(laptop)","name":"Device 1","platform":"ios","isConnected":false,"endpoints":[]"#))
        #expect(!data.contains(old.text))

        // A caller who is blocked rings nobody, and nobody misses the call.
        let before = try await scratch.pulled().count
        _ = try await scratch.write { store in
            try commands.create(
                CreateCall(clientID: .make(at: store.now), callees: [ben], kind: .audio),
                by: Principal(user: carl, endpoint: .make(at: store.now)), id: .make(at: store.now), at: store.now,
                in: store)
        }
        #expect(try await scratch.pulled().count == before)
    }

    @Test func aCallIsAnsweredOrMissedAndEnds() async throws {
        let scratch = try await ScratchWebhooks()
        _ = try await scratch.add(url: nil, types: [.callRinging, .callAnswered, .callMissed, .callEnded])
        let anna = try await scratch.user("Anna"), ben = try await scratch.user("Ben")
        let commands = commands
        let caller = Principal(user: anna, endpoint: .make(at: scratch.time.now))
        let callee = Principal(user: ben, endpoint: .make(at: scratch.time.now))
        for isAnswered in [true, false] {
            let id = try await scratch.write { store in
                try commands.create(
                    CreateCall(clientID: .make(at: store.now), callees: [ben], kind: .audio), by: caller,
                    id: .make(at: store.now), at: store.now, in: store
                ).call.id
            }
            if isAnswered {
                _ = try await scratch.write { try commands.accept(id, by: callee, at: $0.now, in: $0) }
                _ = try await scratch.write { try commands.connected(id, by: callee, at: $0.now, in: $0) }
            }
            _ = try await scratch.write { try commands.hangUp(id, .end, by: caller, at: $0.now, in: $0) }
            let events = try await scratch.pulled().filter { $0.call == id }
            #expect(events.map(\.type) == [.callRinging, isAnswered ? .callAnswered : .callMissed, .callEnded])
            let ended = try #require(events.last?.data)
            #expect(ended.contains(#""reason":"\#(isAnswered ? "hung_up" : "cancelled")","endedBy":"\#(anna)""#))
            #expect(ended.contains(#""user":"\#(ben)","state":"\#(isAnswered ? "left" : "missed")""#))
        }
    }

    @Test func aChangeThatIsRolledBackLeavesNoEvent() async throws {
        struct Failure: Error {}
        let scratch = try await ScratchWebhooks()
        let webhook = try await scratch.add()
        await #expect(throws: Failure.self) {
            try await scratch.write { store in
                try store.insert(
                    EventRecord(id: .make(at: store.now), type: .callEnded, at: store.now, data: "{}"))
                throw Failure()
            }
        }
        #expect(try await scratch.claim(webhook).isEmpty)
        try await scratch.event()
        #expect(try await scratch.claim(webhook).map(\.event.number) == [1])
    }

    @Test func aDeletedUserIsNamedOnceMoreAndThenErased() async throws {
        let scratch = try await ScratchWebhooks()
        _ = try await scratch.add(url: nil)
        let anna = try await scratch.user("Anna", ext: "a-1")
        try await scratch.write { store in
            for number in 0..<25 {
                try store.insert(
                    EventRecord(
                        id: .make(at: store.now), type: .callMissed, at: store.now,
                        data: number % 2 == 0 ? EventData.user(EventParty(user: anna, displayName: "Anna")) : "{}"))
            }
            try store.recordDeleted(anna)
        }
        let deleted = try #require(try await scratch.pulled().last)
        #expect(deleted.type == .userDeleted && deleted.data == #"{"user":"\#(anna)","externalID":"a-1"}"#)
        var after: Int64? = 0
        while let from = after {
            after = try await scratch.write { try $0.redactEvents(of: anna, after: from, limit: 10) }
        }
        #expect(try await scratch.pulled().allSatisfy { !$0.data.contains("Anna") })
    }
}
