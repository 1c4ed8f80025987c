import SwitchboardClient

/// The example of the guide on the SDK: it is compiled here, and run where a server is.
func ring(_ server: String, email: String, password: String, friend: String) async throws {
    // docs:begin
    let switchboard = try Switchboard(server)
    let device = DeviceDescription(name: "A phone", platform: "ios")
    try await switchboard.signIn(email: email, password: password, device: device)
    guard let ben = try await switchboard.searchUsers(friend).first else { return }
    let call = try await switchboard.call([ben.id], kind: .audio)
    for await document in call.updates {
        print(document.status)
    }
    // docs:end
}
