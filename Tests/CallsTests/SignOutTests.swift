import Calls
import Model
import Testing

/// A participation ends with the sign-in by which it was joined.
@Suite struct SignOutTests {
    /// The same person, signed in.
    private func signedIn(_ name: String, in harness: CallsHarness) throws -> Client {
        var client = try harness.person(name)
        let signIn: SignInID = harness.id()
        client.signIn = signIn
        try harness.backend.open(signIn, of: client.user)
        return client
    }

    private func end(_ client: Client, in harness: CallsHarness) throws {
        let signIn = try #require(client.signIn)
        try harness.backend.end(signIn)
        for outcome in try harness.commands.signedOut(
            [signIn], of: client.user, at: harness.now, in: harness.backend.store)
        {
            try harness.run { _, _, _ in outcome }
        }
    }

    @Test(arguments: Backing.allCases)
    func whatItJoinedIsOver(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { harness in
            let anna = try signedIn("Anna", in: harness), ben = try signedIn("Ben", in: harness)
            let cleo = try signedIn("Cleo", in: harness)
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.accept(id, by: ben)
            #expect(try harness.call(id).participant(ben.user)?.joining?.signIn == ben.signIn, "It is remembered.")
            try end(cleo, in: harness)
            #expect(try harness.call(id).participant(cleo.user)?.isRinging == true, "Other devices may ring.")
            try end(ben, in: harness)
            #expect(try harness.call(id).participant(ben.user)?.state.name == "left")
            #expect(!harness.leases.holds(ben.endpoint), "Nothing renews what is not there.")
            try harness.accept(id, by: signedIn("Dora", in: harness).with(user: cleo))
            try end(anna, in: harness)
            #expect(try harness.call(id).participant(anna.user)?.isJoined == false)
            #expect(try harness.call(id).isLive)
        }
    }

    @Test(arguments: Backing.allCases)
    func itEndsACallBetweenTwo(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try signedIn("Anna", in: harness), ben = try signedIn("Ben", in: harness)
            let id = try harness.create(by: anna, to: [ben]).call.id
            try harness.accept(id, by: ben)
            var other = harness.another(ben)
            other.signIn = harness.id()
            try end(other, in: harness)
            #expect(try harness.call(id).isLive, "Another sign-in is nothing to it.")
            try end(ben, in: harness)
            #expect(try harness.call(id).ending?.reason == .hungUp && harness.call(id).ending?.by == ben.user)
        }
    }

    /// A token is verified before the command runs.
    @Test(arguments: Backing.allCases)
    func aSignInThatHasEndedJoinsNothing(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try signedIn("Anna", in: harness), ben = try signedIn("Ben", in: harness)
            let id = try harness.create(by: anna, to: [ben]).call.id
            try end(ben, in: harness)
            #expect(problem { try harness.accept(id, by: ben) } == .unauthenticated)
            #expect(problem { try harness.create(by: ben, to: [anna]) } == .unauthenticated)
            #expect(try harness.call(id).participant(ben.user)?.isRinging == true)
            let eve = try harness.person("Eve")
            try harness.backend.disable(eve.user)
            #expect(problem { try harness.create(by: eve, to: [anna]) } == .unauthenticated)
        }
    }
}

extension Client {
    /// Another user through this client's endpoint and sign-in.
    fileprivate func with(user other: Client) -> Client { Client(user: other.user, endpoint: endpoint, signIn: signIn) }
}
