import Accounts
import Messaging
import Model
import Notifications
import TestSupport
import Testing

@testable import Storage

extension PushStorageTests {
    @Test func thatOfTheSameDeviceIsReplaced() async throws {
        let device = DeviceID.make(at: now)
        let first = try await register(0, device: device, address: 1)
        let created = now
        scratch.clock.advance(seconds: 5)
        let second = try await register(0, device: device, address: 2)
        #expect(second.id == first.id && second.createdAt == created && second.updatedAt == now)
        #expect(try await registrations(0).map(\.sealed) == [[2, 0]])
        // Each kind has its own.
        try await register(0, device: device, address: 3, kind: .fcm)
        #expect(try await registrations(0).count == 2)
        let user = people[0]
        try await write { try $0.removePushRegistration(of: user, on: device, .web) }
        try await write { try $0.removePushRegistration(of: user, on: device, .web) }
        #expect(try await registrations(0).map(\.kind) == [.fcm])
    }

    @Test func anAddressIsOnOneDeviceOfAnAccount() async throws {
        try await register(0, address: 1)
        let second = try await register(0, address: 1, isShared: true)
        #expect(try await registrations(0).map(\.id) == [second.id])
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func anAddressIsOfTwoAccountsIfBothSaySo(first: Bool, second: Bool) async throws {
        try await register(0, address: 1, isShared: first)
        try await register(0, address: 9)
        try await register(1, address: 1, isShared: second)
        #expect(try await registrations(0).map(\.sealed) == (first && second ? [[9, 0], [1, 0]] : [[9, 0]]))
        #expect(try await registrations(1).count == 1)
    }

    @Test func theLeastRecentlyRenewedGo() async throws {
        let first = DeviceID.make(at: now)
        try await register(0, device: first, address: 0)
        for address in 1..<UInt8(StoreTransaction.maxPushRegistrations) {
            scratch.clock.advance(seconds: 1)
            try await register(0, address: address)
        }
        scratch.clock.advance(seconds: 1)
        try await register(0, device: first, address: 0)
        try await register(0, address: 200)
        let left = try await registrations(0).map(\.digest)
        #expect(left.count == StoreTransaction.maxPushRegistrations)
        #expect(left.contains([0]) && left.contains([200]) && !left.contains([1]) && left.contains([2]))
    }

    @Test func theyGoWithTheSession() async throws {
        let (user, device) = (people[0], DeviceID.make(at: now))
        var signIns = (0..<2).map { _ in
            SignInRecord(
                id: .make(at: now), user: user, device: device, createdAt: now, lastUsedAt: now,
                rotation: RefreshRotation(familyHash: [], usedAt: now, next: [], expiresAt: now.adding(seconds: 60)))
        }
        let inserted = signIns
        try await write { store in for signIn in inserted { try store.insert(signIn) } }
        try await register(0, device: device)
        let other = try await register(0, address: 2)
        signIns[0].endedAt = now
        let ended = signIns[0]
        try await write { try $0.update(ended) }
        #expect(try await registrations(0).count == 2, "another session is on the device")
        signIns[1].endedAt = now
        let last = signIns[1]
        try await write { try $0.update(last) }
        #expect(try await registrations(0) == [other])
    }

    @Test func theyGoWithTheDevice() async throws {
        let (user, device) = (people[0], DeviceID.make(at: now))
        for kind in PushKind.allCases { try await register(0, device: device, kind: kind) }
        try await write { try $0.removeDevice(device, of: user) }
        #expect(try await registrations(0).isEmpty)
    }

    @Test func theyGoWithTheUser() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        try await send(to: id)
        try await expand(to: registration)
        #expect(try await count("pushes") == 1)
        let user = people[1]
        try await write { store in
            var record = try #require(try store.user(user))
            record.disabledAt = store.now
            try store.update(record)
        }
        #expect(try await registrations(1).isEmpty)
        #expect(try await count("pushes") == 0)
    }

    @Test func theyAreCountedByKind() async throws {
        #expect(try await store.read { try $0.registrationCounts().isEmpty })
        #expect(try await store.read { try $0.waitingPushes().isEmpty })
        let device = DeviceID.make(at: now)
        let phone = try await register(1, device: device, address: 2, kind: .fcm)
        try await register(1, device: device)
        try await register(2, address: 3)
        let id = try await group([0, 1])
        try await send(to: id)
        try await expand(to: phone)
        let since = now
        scratch.clock.advance(seconds: 60)
        #expect(try await store.read { try $0.registrationCounts() } == [.web: 2, .fcm: 1])
        let waiting = try await store.read { try $0.waitingPushes() }
        #expect(waiting.keys.sorted { $0.rawValue < $1.rawValue } == [.fcm])
        #expect(waiting[.fcm]?.count == 1 && waiting[.fcm]?.oldest == since)
    }

    @Test func oneIsRemovedWithItsPushes() async throws {
        let (user, device) = (people[1], DeviceID.make(at: now))
        let registration = try await register(1, device: device, kind: .fcm)
        let other = try await register(1, device: device, address: 2)
        let id = try await group([0, 1])
        try await send(to: id)
        try await expand(to: registration)
        for (kind, isThere) in [(PushKind.apns, false), (.fcm, true), (.fcm, false)] {
            let wasThere = try await write { try $0.removePushRegistration(of: user, on: device, kind) }
            #expect(wasThere == isThere, "\(kind)")
        }
        #expect(try await registrations(1) == [other])
        #expect(try await count("pushes") == 0)
    }

    @Test func goneIsOnlyWhatWasNotRenewed() async throws {
        let device = DeviceID.make(at: now)
        let registration = try await register(1, device: device)
        let id = try await group([0, 1])
        try await send(to: id)
        try await expand(to: registration)
        let first = try #require(try await claimPushes().first)
        scratch.clock.advance(seconds: 1)
        try await register(1, device: device, address: 2)
        try await settle(first, .gone)
        // It is pushed to the new address, at once.
        let second = try #require(try await claimPushes().first)
        #expect(second.registration.sealed == [2, 0] && second.attempt == 0)
        try await settle(second, .gone)
        #expect(try await registrations(1).isEmpty)
        #expect(try await count("pushes") == 0)
    }

    @Test func aRestoredDatabaseHasNone() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        try await send(to: id)
        try await expand(to: registration)
        try await send(to: id)
        try await store.beginAfterRestore()
        for table in ["push_registrations", "push_sources", "pushes"] {
            #expect(try await count(table) == 0, "\(table)")
        }
        try await send(to: id)
        #expect(try await count("push_sources") == 0)
    }
}
