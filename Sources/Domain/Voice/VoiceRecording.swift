package import Model

/// A voice message while it is recorded here, and until it is sent or thrown away. In JSON: a `recording`.
///
/// It is one person's alone: whom it is for hears of the message, not of this.
package struct VoiceTake: Hashable, Sendable {
    /// Each has one at a time: a client that begins anew has given up what it had.
    package enum Owner: Hashable, Sendable {
        case endpoint(EndpointID)
        /// A user by WHIP, which knows no endpoints.
        case door(UserID)
    }

    package enum State: Hashable, Sendable {
        /// It has a leg, and nobody has spoken yet.
        case waiting(until: Int64)
        case recording(until: Int64)
        /// Nothing more comes. Its owner may still send what there is.
        case kept(until: Int64)
        case sending
    }

    package let id: VoiceTakeID
    package let from: UserID
    package let to: UserID
    package let owner: Owner
    /// With which it was begun; absent where the token is an outside issuer's.
    package let signIn: SignInID?
    /// As what it is in the gateway.
    package let leg: EndpointID
    package internal(set) var state: State
    /// Why there is nothing that could be sent, in words for its owner.
    package internal(set) var failure: String?

    /// Whether sound may still come.
    package var isOpen: Bool {
        switch state {
        case .waiting, .recording: true
        case .kept, .sending: false
        }
    }
}

/// How many recordings there may be, and how long.
package struct VoiceTakeRules: Hashable, Sendable {
    package var most = 256
    package var mostOfAUser = 4
    /// Until somebody speaks.
    package var waitSeconds: Int64 = 60
    /// Of what is recorded, from its first sound.
    package var soundSeconds: Int64 = 300
    /// For which what was recorded and not sent is kept.
    package var keepSeconds: Int64 = 600

    package init() {}
}

/// All voice messages that are being recorded, and what is to become of them. They live in memory, so that time is
/// milliseconds of a clock that nobody sets.
package struct VoiceTakes: Sendable {
    /// What time has brought about.
    package enum Due: Hashable, Sendable {
        /// It is as long as it may be, or nobody spoke.
        case end(VoiceTake)
        /// It is none any more.
        case discard(VoiceTake)
    }

    private let rules: VoiceTakeRules
    private var takes: [VoiceTakeID: VoiceTake] = [:]

    package init(rules: VoiceTakeRules = VoiceTakeRules()) { self.rules = rules }

    package var isEmpty: Bool { takes.isEmpty }
    package var openCount: Int { takes.values.count { $0.isOpen } }
    package var keptCount: Int { takes.count - openCount }

    /// Begins one. What its owner had before is none any more, and is returned: unless it is being sent.
    package mutating func begin(
        _ id: VoiceTakeID, to: UserID, leg: EndpointID, by principal: Principal, at now: Int64
    ) throws -> (take: VoiceTake, replaced: VoiceTake?) {
        let owner = principal.endpoint.map { VoiceTake.Owner.endpoint($0) } ?? .door(principal.user)
        let replaced = takes.values.first { $0.owner == owner && $0.state != .sending }
        let others = takes.values.filter { $0.id != replaced?.id }
        guard others.count < rules.most else {
            throw Problem(.unavailable, "Too many voice messages are being recorded now.", retryAfter: 10_000)
        }
        guard others.count(where: { $0.from == principal.user }) < rules.mostOfAUser else {
            throw Problem(.conflict, "You record too many voice messages at a time: send one, or throw it away.")
        }
        if let replaced { takes[replaced.id] = nil }
        let take = VoiceTake(
            id: id, from: principal.user, to: to, owner: owner, signIn: principal.signIn, leg: leg,
            state: .waiting(until: now &+ rules.waitSeconds &* 1000))
        takes[id] = take
        return (take, replaced)
    }

    package func take(_ id: VoiceTakeID) -> VoiceTake? { takes[id] }

    package func take(as leg: EndpointID) -> VoiceTake? { takes.values.first { $0.leg == leg } }

    /// Who asks for another's learns nothing.
    package func take(_ id: VoiceTakeID, of user: UserID) throws -> VoiceTake {
        guard let take = takes[id], take.from == user else { throw Problem.notFound("recording", field: "recording") }
        return take
    }

    /// The first sound came then.
    package mutating func heard(_ id: VoiceTakeID, at begin: Int64) {
        guard case .waiting = takes[id]?.state else { return }
        takes[id]?.state = .recording(until: begin &+ rules.soundSeconds &* 1000)
    }

    /// Nothing more comes of it, or nothing of it is left where there is a failure.
    package mutating func ended(_ id: VoiceTakeID, failure: String? = nil, at now: Int64) {
        guard let take = takes[id] else { return }
        takes[id]?.failure = take.failure ?? failure
        if take.isOpen { takes[id]?.state = .kept(until: now &+ rules.keepSeconds &* 1000) }
    }

    /// It is to be sent now. Nobody else can do anything with it until that is done, or has failed.
    package mutating func send(_ id: VoiceTakeID, of user: UserID) throws -> VoiceTake {
        let take = try take(id, of: user)
        guard take.state != .sending else { throw Self.isBeingSent }
        takes[id]?.state = .sending
        return take
    }

    /// It could not be sent, which may be tried again.
    package mutating func notSent(_ id: VoiceTakeID, at now: Int64) {
        guard takes[id]?.state == .sending else { return }
        takes[id]?.state = .kept(until: now &+ rules.keepSeconds &* 1000)
    }

    /// It was sent, or could not begin.
    package mutating func remove(_ id: VoiceTakeID) { takes[id] = nil }

    /// Its owner throws it away.
    package mutating func discard(_ id: VoiceTakeID, of user: UserID) throws -> VoiceTake {
        let take = try take(id, of: user)
        guard take.state != .sending else { throw Self.isBeingSent }
        takes[id] = nil
        return take
    }

    /// Nothing that came was read for so many milliseconds: nobody's time has passed.
    package mutating func extend(by stall: Int64) {
        for (id, take) in takes {
            switch take.state {
            case .waiting(let until): takes[id]?.state = .waiting(until: until &+ stall)
            case .recording(let until): takes[id]?.state = .recording(until: until &+ stall)
            case .kept(let until): takes[id]?.state = .kept(until: until &+ stall)
            case .sending: continue
            }
        }
    }

    /// Those that `isOver` picks are none any more, and are returned: unless they are being sent.
    package mutating func removeAll(where isOver: (VoiceTake) -> Bool) -> [VoiceTake] {
        let over = takes.values.filter { $0.state != .sending && isOver($0) }
        for take in over { takes[take.id] = nil }
        return over
    }

    /// What is due by now. What is to end is kept from then on; what is to be discarded has gone from here.
    package mutating func advance(to now: Int64) -> [Due] {
        var due: [Due] = []
        for take in takes.values {
            switch take.state {
            case .waiting(let until), .recording(let until):
                guard until <= now else { continue }
                ended(take.id, at: now)
                due.append(.end(take))
            case .kept(let until):
                guard until <= now else { continue }
                takes[take.id] = nil
                due.append(.discard(take))
            case .sending: continue
            }
        }
        return due
    }

    private static let isBeingSent = Problem(.conflict, "This recording is being sent.")
}
