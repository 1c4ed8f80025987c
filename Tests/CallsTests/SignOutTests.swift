import Calls
import Model
import Testing

/// A participation ends with the sign-in by which it was joined.
@Suite struct SignOutTests {
    /// The same person, signed in.
    private func signedIn(_ name: String, in world: World) throws -> Client {
        var client = try world.person(name)
        let signIn: SignInID = world.id()
        client.signIn = signIn
        try world.bench.open(signIn, of: client.user)
        return client
    }

    private func end(_ client: Client, in world: World) throws {
        let signIn = try #require(client.signIn)
        try world.bench.end(signIn)
        for outcome in try world.commands.signedOut([signIn], of: client.user, at: world.now, in: world.bench.store) {
            try world.run { _, _, _ in outcome }
        }
    }

    @Test(arguments: Backing.allCases)
    func whatItJoinedIsOver(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { world in
            let anna = try signedIn("Anna", in: world), ben = try signedIn("Ben", in: world)
            let cleo = try signedIn("Cleo", in: world)
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.accept(id, by: ben)
            #expect(try world.call(id).participant(ben.user)?.joining?.signIn == ben.signIn, "It is remembered.")
            try end(cleo, in: world)
            #expect(try world.call(id).participant(cleo.user)?.isRinging == true, "Other devices may ring.")
            try end(ben, in: world)
            #expect(try world.call(id).participant(ben.user)?.state.name == "left")
            #expect(!world.leases.holds(ben.endpoint), "Nothing renews what is not there.")
            try world.accept(id, by: signedIn("Dora", in: world).with(user: cleo))
            try end(anna, in: world)
            #expect(try world.call(id).participant(anna.user)?.isJoined == false)
            #expect(try world.call(id).isLive)
        }
    }

    @Test(arguments: Backing.allCases)
    func itEndsACallBetweenTwo(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try signedIn("Anna", in: world), ben = try signedIn("Ben", in: world)
            let id = try world.create(by: anna, to: [ben]).call.id
            try world.accept(id, by: ben)
            var other = world.another(ben)
            other.signIn = world.id()
            try end(other, in: world)
            #expect(try world.call(id).isLive, "Another sign-in is nothing to it.")
            try end(ben, in: world)
            #expect(try world.call(id).ending?.reason == .hungUp && world.call(id).ending?.by == ben.user)
        }
    }

    /// A token is verified before the command runs.
    @Test(arguments: Backing.allCases)
    func aSignInThatHasEndedJoinsNothing(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try signedIn("Anna", in: world), ben = try signedIn("Ben", in: world)
            let id = try world.create(by: anna, to: [ben]).call.id
            try end(ben, in: world)
            #expect(problem { try world.accept(id, by: ben) } == .unauthenticated)
            #expect(problem { try world.create(by: ben, to: [anna]) } == .unauthenticated)
            #expect(try world.call(id).participant(ben.user)?.isRinging == true)
            let eve = try world.person("Eve")
            try world.bench.disable(eve.user)
            #expect(problem { try world.create(by: eve, to: [anna]) } == .unauthenticated)
        }
    }
}

extension Client {
    /// Another user through this client's endpoint and sign-in.
    fileprivate func with(user other: Client) -> Client { Client(user: other.user, endpoint: endpoint, signIn: signIn) }
}
