import Testing

@testable import Server

@Suite struct ServerRoleTests {
    @Test(arguments: ["api,relay,gateway", "relay", "api,gateway", "api", "api,relay"])
    func listsAreRead(list: String) throws {
        let roles = try ServerRole.parse(list)
        #expect(roles == Set(list.split(separator: ",").compactMap { ServerRole(rawValue: String($0)) }))
    }

    @Test(arguments: [
        ("gateway", "use --role api,gateway"), ("relay,gateway", "use --role api,relay,gateway"),
        ("relays", "Unknown role relays: --role takes api, relay, gateway."), ("", "--role names no role"),
    ])
    func whatCannotRunIsRefusedWithWhatIsNeeded(list: String, expected: String) {
        let error = #expect(throws: ConfigurationError.self) { try ServerRole.parse(list) }
        #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
    }
}
