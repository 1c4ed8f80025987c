import SwitchboardClient

/// The signed-in user of the app.
final class ChatAccount: Sendable {
    let switchboard: Switchboard

    /// - Parameters:
    ///   - server: The address of the server.
    ///   - directory: Where conversations are kept.
    init(server: String, directory: String) throws {
        var options = SwitchboardOptions()
        options.store = .directory(directory)
        switchboard = try Switchboard(server, options: options)
    }

    /// Signs in for the first time.
    func signIn(email: String, password: String) async throws {
        try await switchboard.signIn(email: email, password: password)
    }

    /// Goes on with the sign-in of an earlier run.
    func resume(_ tokens: Tokens) async {
        await switchboard.use(tokens)
    }

    /// Stores the tokens whenever they change, for as long as the app runs.
    func keepTokens(_ store: (Tokens?) -> Void) async {
        for await tokens in await switchboard.tokenChanges { store(tokens) }
    }
}
