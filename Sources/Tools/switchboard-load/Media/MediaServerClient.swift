/// The client of a media server's signalling, by which virtual participants join a call. The load itself is the same
/// for every server.
protocol MediaServerClient: Sendable {
    /// Creates a call for these people. The first two are in it; each of the others enters it with `enter` before
    /// `join`.
    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall
    /// Negotiates a participant's media with the server, and starts its legs. Participants are named by their index in
    /// the call's members.
    func join(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg]
    /// Makes further legs after all have joined, for a server with separate legs for receiving.
    func watch(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg]
    /// A participant leaves the call, which ends its legs. The call goes on without it.
    func leave(_ index: Int, of call: MediaCall) async throws
    /// A participant enters the call, for the first time or again, without legs.
    func enter(_ index: Int, of call: MediaCall) async throws
    func end(_ call: MediaCall) async
}

/// A call of the load.
struct MediaCall: Sendable {
    struct Member: Sendable {
        let person: VirtualUser
        let endpoint: String
        let secret: String
    }

    let id: String
    let members: [Member]
}
