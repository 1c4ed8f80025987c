package import Model

/// A session description in SDP (RFC 8866); opaque to this server in direct mode.
package struct SessionDescriptionInit: Hashable, Sendable, Codable {
    package var sdp: String

    package init(sdp: String) { self.sdp = sdp }
}

/// One ICE candidate as `RTCIceCandidateInit` has it (W3C WebRTC section 4.8).
package struct CandidateInit: Hashable, Sendable, Decodable {
    package var candidate: String
    package var sdpMid: String?
    package var sdpMLineIndex: Int64?
    package var usernameFragment: String?

    package init(
        candidate: String, sdpMid: String? = nil, sdpMLineIndex: Int64? = nil, usernameFragment: String? = nil
    ) {
        self.candidate = candidate
        self.sdpMid = sdpMid
        self.sdpMLineIndex = sdpMLineIndex
        self.usernameFragment = usernameFragment
    }

    /// The size of its strings in bytes.
    var size: Int {
        candidate.utf8.count + (sdpMid?.utf8.count ?? 0) + (usernameFragment?.utf8.count ?? 0)
    }
}

/// A signalling message from one endpoint to another: an offer, an answer or candidates. It carries addresses, so it
/// goes only to that endpoint's mailbox and is never logged.
package struct Signal: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable, Codable {
        case offer, answer, candidates

        /// The type of the change in the recipient's mailbox.
        package var changeType: SignalChangeType {
            switch self {
            case .offer: .offer
            case .answer: .answer
            case .candidates: .candidates
            }
        }
    }

    package enum Payload: Hashable, Sendable {
        case description(SessionDescriptionInit)
        /// `isLast`: the sender has gathered all its candidates.
        case candidates([CandidateInit], isLast: Bool)
    }

    package struct Sender: Hashable, Sendable {
        package var user: UserID
        package var endpoint: EndpointID

        package init(user: UserID, endpoint: EndpointID) {
            self.user = user
            self.endpoint = endpoint
        }
    }

    package var call: CallID
    package var clientID: ClientID
    package var bodyHash: Int64
    package var from: Sender
    /// Nil while the call rings: the signal is for whoever accepts.
    package var to: EndpointID?
    package var kind: Kind
    package var generation: Int64
    package var status: SignalOutcome.Status
    /// The change that its recipient receives, as JSON text.
    package var data: String

    package init(
        call: CallID, clientID: ClientID, bodyHash: Int64, from: Sender, to: EndpointID?, kind: Kind, generation: Int64,
        status: SignalOutcome.Status, data: String
    ) {
        self.call = call
        self.clientID = clientID
        self.bodyHash = bodyHash
        self.from = from
        self.to = to
        self.kind = kind
        self.generation = generation
        self.status = status
        self.data = data
    }
}

/// What is stored of a signal to recognise a retry.
package struct SentSignal: Hashable, Sendable {
    package var bodyHash: Int64
    package var status: SignalOutcome.Status
    package var generation: Int64

    package init(bodyHash: Int64, status: SignalOutcome.Status, generation: Int64) {
        self.bodyHash = bodyHash
        self.status = status
        self.generation = generation
    }
}

/// A request to send a signal.
package struct SendSignal: Hashable, Sendable {
    package var clientID: ClientID
    /// May be absent between two people.
    package var to: EndpointID?
    package var kind: Signal.Kind
    /// For an offer the generation that it builds on, 0 at first; otherwise the generation of the offer it belongs to.
    package var generation: Int64
    package var payload: Signal.Payload

    package init(
        clientID: ClientID, to: EndpointID? = nil, kind: Signal.Kind, generation: Int64, payload: Signal.Payload
    ) {
        self.clientID = clientID
        self.to = to
        self.kind = kind
        self.generation = generation
        self.payload = payload
    }
}

extension SendSignal: Decodable {
    private enum CodingKeys: String, CodingKey {
        case clientID, to, kind, generation, payload
    }

    private struct Batch: Decodable {
        var candidates: [CandidateInit]
        var end: Bool?
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        clientID = try container.decode(ClientID.self, forKey: .clientID)
        to = try container.decodeIfPresent(EndpointID.self, forKey: .to)
        kind = try container.decode(Signal.Kind.self, forKey: .kind)
        generation = try container.decode(Int64.self, forKey: .generation)
        switch kind {
        case .offer, .answer:
            payload = .description(try container.decode(SessionDescriptionInit.self, forKey: .payload))
        case .candidates:
            let batch = try container.decode(Batch.self, forKey: .payload)
            payload = .candidates(batch.candidates, isLast: batch.end ?? false)
        }
    }
}

extension SendSignal {
    var bodyHash: Int64 {
        var hash = BodyHash()
        hash.add(to?.text)
        hash.add(kind.rawValue)
        hash.add(String(generation))
        switch payload {
        case .description(let description): hash.add(description.sdp)
        case .candidates(let candidates, let isLast):
            for candidate in candidates {
                hash.add(candidate.candidate)
                hash.add(candidate.sdpMid)
                hash.add(candidate.sdpMLineIndex.map(String.init))
                hash.add(candidate.usernameFragment)
            }
            hash.add(isLast ? "last" : "more")
        }
        return hash.integer
    }
}

extension Signal.Payload {
    /// How much a signal counts against the limit of held candidates; an empty batch counts too.
    var weight: Int {
        if case .candidates(let candidates, _) = self { max(1, candidates.count) } else { 0 }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .description(let description): writer.member("sdp", description.sdp)
            case .candidates(let candidates, let isLast):
                writer.name("candidates")
                writer.array(candidates) { writer, candidate in
                    writer.object { writer in
                        writer.member("candidate", candidate.candidate)
                        writer.member("sdpMid", candidate.sdpMid)
                        writer.member("sdpMLineIndex", candidate.sdpMLineIndex)
                        writer.member("usernameFragment", candidate.usernameFragment)
                    }
                }
                writer.member("end", isLast)
            }
        }
    }
}

extension Signal {
    /// The entry for the recipient's mailbox.
    func entry(for recipient: EndpointID) -> StreamEntry {
        .signals(
            call, recipient, kind.changeType, data: data,
            mail: StreamEntry.Mail(sender: from.endpoint, generation: generation))
    }

    /// The JSON that the recipient receives; `from` is set by the server, not by the sender.
    static func data(from sender: Sender, kind: Kind, generation: Int64, payload: Payload) -> String {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.name("from")
            writer.object { writer in
                writer.member("user", sender.user)
                writer.member("endpoint", sender.endpoint)
            }
            writer.member("kind", kind.rawValue)
            writer.member("generation", generation)
            writer.name("payload")
            payload.write(to: &writer)
        }
        return writer.text
    }
}
