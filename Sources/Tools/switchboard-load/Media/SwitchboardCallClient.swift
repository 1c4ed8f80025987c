/// The client of Switchboard: calls in gateway mode over REST.
struct SwitchboardCallClient: MediaServerClient {
    /// The maximum: participants join one after the other, and each may take seconds on a busy machine.
    private static let ringSeconds = 120

    let http: MediaHTTP

    private struct Called: Decodable {
        struct Call: Decodable { var id: String; var mode: String }
        var call: Call
    }

    private struct Joined: Decodable {
        struct Answer: Decodable { var sdp: String }
        var answer: Answer
    }

    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall {
        let members = people.map { MediaCall.Member(person: $0, endpoint: UUIDText.make(), secret: UUIDText.make()) }
        struct Create: Encodable { var clientID, kind, mode: String; var callees: [String]; var ringSeconds: Int }
        guard let caller = members.first else { throw MediaFailure("a call without anybody") }
        let called: Called = try await post(
            "/v1/calls", by: caller,
            Create(
                clientID: UUIDText.make(), kind: video ? "video" : "audio", mode: "gateway",
                callees: people.dropFirst().map(\.user), ringSeconds: Self.ringSeconds))
        let call = MediaCall(id: called.call.id, members: members)
        // A participant without a leg does not renew its lease and is soon removed, so the others accept just before
        // they make their leg.
        if members.count > 1 { try await enter(1, of: call) }
        return call
    }

    func enter(_ index: Int, of call: MediaCall) async throws {
        struct Accept: Encodable { var clientID: String }
        let _: Called = try await post(
            "/v1/calls/\(call.id)/accept", by: call.members[index], Accept(clientID: UUIDText.make()))
    }

    func leave(_ index: Int, of call: MediaCall) async throws {
        struct Nothing: Encodable {}
        let _: Called = try await post("/v1/calls/\(call.id)/leave", by: call.members[index], Nothing())
    }

    func join(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        struct Offer: Encodable {
            struct Description: Encodable { var sdp: String }
            var offer: Description
        }
        let opening = try maker.open(parameters)
        let joined: Joined = try await post(
            "/v1/calls/\(call.id)/leg", by: call.members[index], Offer(offer: .init(sdp: opening.offer.text)))
        return [try await maker.connect(opening, LegPlan(opening.offer, answer: joined.answer.sdp))]
    }

    func watch(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        []
    }

    func end(_ call: MediaCall) async {
        // Errors are ignored: a call that is left behind ends by itself.
        for index in call.members.indices { try? await leave(index, of: call) }
    }

    private func post<Response: Decodable>(
        _ path: String, by member: MediaCall.Member, _ body: some Encodable
    ) async throws -> Response {
        try await http.post(path, body, member.headers)
    }
}
