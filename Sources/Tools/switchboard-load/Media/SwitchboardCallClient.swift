/// Switchboard's own door: calls in gateway mode over REST.
struct SwitchboardDoor: MediaDoor {
    /// The longest that there is: participants come one after the other, and each may take seconds on a busy machine.
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
        let seats = people.map { MediaCall.Seat(person: $0, endpoint: UUIDText.make(), secret: UUIDText.make()) }
        struct Create: Encodable { var clientID, kind, mode: String; var callees: [String]; var ringSeconds: Int }
        guard let caller = seats.first else { throw MediaFailure("a call without anybody") }
        let called: Called = try await post(
            "/v1/calls", by: caller,
            Create(
                clientID: UUIDText.make(), kind: video ? "video" : "audio", mode: "gateway",
                callees: people.dropFirst().map(\.user), ringSeconds: Self.ringSeconds))
        let call = MediaCall(id: called.call.id, seats: seats)
        // Somebody who is in a call shows no sign of life without a leg, and is taken for gone before long: the others
        // answer when it is their turn to make one.
        if seats.count > 1 { try await enter(1, of: call) }
        return call
    }

    func enter(_ seat: Int, of call: MediaCall) async throws {
        struct Accept: Encodable { var clientID: String }
        let _: Called = try await post(
            "/v1/calls/\(call.id)/accept", by: call.seats[seat], Accept(clientID: UUIDText.make()))
    }

    func leave(_ seat: Int, of call: MediaCall) async throws {
        struct Nothing: Encodable {}
        let _: Called = try await post("/v1/calls/\(call.id)/leave", by: call.seats[seat], Nothing())
    }

    func join(_ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker) async throws -> [LegMaker.Leg]
    {
        struct Offer: Encodable {
            struct Description: Encodable { var sdp: String }
            var offer: Description
        }
        let opening = try maker.open(wishes)
        let joined: Joined = try await post(
            "/v1/calls/\(call.id)/leg", by: call.seats[seat], Offer(offer: .init(sdp: opening.offer.text)))
        return [try await maker.connect(opening, LegPlan(opening.offer, answer: joined.answer.sdp))]
    }

    func watch(_ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker) async throws -> [LegMaker.Leg]
    {
        []
    }

    func end(_ call: MediaCall) async {
        // Nobody waits for it: a call that is left behind ends by itself.
        for seat in call.seats.indices { try? await leave(seat, of: call) }
    }

    private func post<Answer: Decodable>(
        _ path: String, by seat: MediaCall.Seat, _ body: some Encodable
    ) async throws -> Answer {
        try await http.post(path, body, seat.headers)
    }
}
