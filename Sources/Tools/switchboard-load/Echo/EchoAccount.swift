import SwitchboardClient

/// The account of the user who answers: an existing one, or one that is created.
struct EchoAccount: Sendable {
    let name: String
    let email: String
    let password: String
    let invite: String?
    /// Whether the account was made up for this run, so that it cannot exist before the first sign-in.
    private let isNew: Bool

    /// Without an e-mail address, an account is made up.
    init(name: String, email: String?, password: String?, invite: String?) {
        self.name = name
        self.email = email ?? "echo-\(UUIDText.make())@example.org"
        self.password = password ?? UUIDText.make()
        self.invite = invite
        isNew = email == nil
    }

    /// Signs in; creates the account if there is none.
    ///
    /// - Parameter isFirst: the first sign-in of this run.
    func signIn(_ client: Switchboard, isFirst: Bool) async throws -> Me {
        let device = DeviceDescription(name: "switchboard-load echo", platform: "linux")
        var refusal: SwitchboardError?
        if !(isFirst && isNew) {
            do {
                return try await client.signIn(email: email, password: password, device: device)
            } catch let error as SwitchboardError where error.problem?.kind == .unauthenticated {
                refusal = error
            }
        }
        do {
            return try await client.signUp(
                email: email, password: password, displayName: name, invite: invite, device: device)
        } catch let error as SwitchboardError where error.problem?.kind == .conflict {
            // The account exists, so it was the password that was wrong.
            throw refusal ?? error
        }
    }
}
