import Model
import Testing
import Webhooks

@Suite struct EventDataTests {
    private let anna = UserID.make(at: Timestamp(milliseconds: 0))
    private let ben = UserID.make(at: Timestamp(milliseconds: 0))

    private func ring(_ callerName: String?, ext: String?, device: String?) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("caller")
            writer.object { EventParty(user: anna, externalID: ext, displayName: callerName).write(to: &$0) }
            EventParty(user: ben, externalID: "b-1").write(to: &writer)
            writer.name("devices")
            writer.array([device].compactMap(\.self)) { writer, name in
                writer.object { writer in
                    writer.member("id", ben)
                    writer.member("name", name)
                    writer.member("platform", "ios")
                }
            }
        }
        return writer.text
    }

    @Test(arguments: ["Anna", "An\"na\\", "\\", "\"", "Анна 🎉", "\",\"user\":\"x"])
    func aDeletedUsersNamesAreRemovedAndTheIDStays(_ name: String) {
        let data = ring(name, ext: name, device: "Phone")
        #expect(EventData.redacting(anna, isOwn: false, in: data) == ring(nil, ext: nil, device: "Phone"))
        #expect(EventData.redacting(.make(at: Timestamp(milliseconds: 1)), isOwn: false, in: data) == data)
    }

    @Test func theNamesOfDevicesAreRemovedFromOnesOwnEvents() {
        let data = ring("Anna", ext: nil, device: "Ben's \"phone\"")
        let redacted = EventData.redacting(ben, isOwn: true, in: data)
        #expect(!redacted.contains("phone") && !redacted.contains("b-1") && redacted.contains("Anna"))
        #expect(redacted.contains(#"{"id":"\#(ben)","platform":"ios"}"#))
    }

    @Test func anOutsideIdentityIsRemoved() {
        let data = EventData.user(EventParty(user: anna), identity: ("https://issuer.example", "anna@example"))
        #expect(EventData.redacting(anna, isOwn: true, in: data) == EventData.user(EventParty(user: anna)))
    }

    @Test func damagedDataIsNoTrap() {
        let data = ring("Anna", ext: "a", device: "Phone")
        for count in 0..<data.utf8.count {
            let cut = String(decoding: data.utf8.prefix(count), as: UTF8.self)
            _ = EventData.redacting(anna, isOwn: true, in: cut)
            _ = EventData.redacting(anna, isOwn: true, in: cut + "\\")
        }
    }
}
