/// How virtual participants get into a call: what is asked for, of whom, before media can flow. The load itself is the same
/// whoever answers.
protocol MediaDoor: Sendable {
    /// Makes a call for these people. The first two are in it; each of the others `enter`s it before it joins.
    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall
    /// Brings a participant's offer, or whatever the server wants instead, to the server, and begins its legs.
    func join(_ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker) async throws -> [LegMaker.Leg]
    /// Once all of them have joined: more legs, where a server gives what one sees in legs of their own.
    func watch(_ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker) async throws -> [LegMaker.Leg]
    /// A participant goes, and with that its legs; the call goes on without it.
    func leave(_ seat: Int, of call: MediaCall) async throws
    /// A participant who was not in the call, or has left it, is in it, without legs.
    func enter(_ seat: Int, of call: MediaCall) async throws
    func end(_ call: MediaCall) async
}

/// A call of the load.
struct MediaCall: Sendable {
    struct Seat: Sendable {
        let person: VirtualUser
        let endpoint: String
        let secret: String
    }

    let id: String
    let seats: [Seat]
}
