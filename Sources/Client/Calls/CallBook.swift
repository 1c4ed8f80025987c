/// The live calls that an endpoint knows of, put together from its streams, as a value without doors.
///
/// A call's own stream has the last word on it. The user's stream tells of calls whose own stream has not come yet
/// (they ring), and of their end.
struct CallBook: Sendable {
    enum Event: Hashable, Sendable {
        /// A call rings for the user; told once.
        case incoming(Call)
        case updated(Call)
        /// The document is final.
        case over(Call)
        /// The user may not see the call any more.
        case gone(CallID)
        /// Signals came; `isWhole` where they are the whole mailbox, of which some may have been told before.
        case signals(CallID, [Signal], isWhole: Bool)
        /// What there is in a mailbox of the leg with the gateway.
        case leg(CallID, [StreamChange])
        /// What was said in a call.
        case captions(CallID, [Caption])
        case profile(Me)
    }

    private struct Page: Sendable {
        var call: Call
        /// Whether the call's own stream has come.
        var isFollowed: Bool
        var wasAnnounced = false
    }

    /// How many ended calls are remembered, so that a late word of one does not bring it back.
    private static let memory = 256

    private var pages: [CallID: Page] = [:]
    private var ended: [CallID] = []
    /// The epochs of the streams that came.
    private var epochs: [String: String] = [:]

    /// The calls that are not over, by id.
    var live: [CallID: Call] { pages.mapValues(\.call) }

    /// The streams that the endpoint should have for the calls that are not over.
    func streams(of user: UserID, at endpoint: EndpointID) -> [String] {
        pages.values.flatMap { page -> [String] in
            let mine = page.call.participant(user)
            let isHere = mine?.state == .joined && mine?.endpoint == endpoint
            return [StreamName.call(page.call.id)] + (isHere ? [StreamName.signals(page.call.id, endpoint)] : [])
        }
    }

    /// Takes what came out of a stream, for the user `me`.
    mutating func take(_ delivery: EndpointMachine.Delivery, of stream: String, for me: UserID) -> [Event] {
        if case .snapshot(_, let position) = delivery { note(position.epoch, of: stream) }
        return switch delivery {
        case .snapshot(.user(let document), _):
            [.profile(document.me)] + document.calls.flatMap { hear($0, for: me) }
        case .snapshot(.call(let call), _): follow(call, for: me)
        case .snapshot(.signals(let entries), _): tell(entries, of: stream, isWhole: true)
        case .snapshot(.presence, _), .snapshot(.unknown, _), .presence: []
        case .caption(let caption): StreamName.call(of: stream).map { [.captions($0, [caption])] } ?? []
        case .changes(let changes):
            (stream.hasPrefix("signals:") ? tell(changes, of: stream, isWhole: false) : [])
                + change(changes.map(\.content), of: stream, for: me)
        case .closed: close(stream)
        }
    }

    /// Versions hold within an epoch: after another one, a call may be in a state that it had before.
    private mutating func note(_ epoch: String, of stream: String) {
        guard let before = epochs.updateValue(epoch, forKey: stream), before != epoch else { return }
        if stream.hasPrefix("user:") {
            ended = []
            for id in pages.keys { forgetVersion(of: id) }
        } else if stream.hasPrefix("call:"), let id = StreamName.call(of: stream) {
            ended.removeAll { $0 == id }
            forgetVersion(of: id)
        }
    }

    private mutating func forgetVersion(of id: CallID) {
        pages[id]?.call.version = 0
        pages[id]?.isFollowed = false
    }

    /// Takes a document out of an answer, where it is newer than what is known.
    mutating func take(_ call: Call, for me: UserID) -> [Event] {
        if let page = pages[call.id], page.call.version >= call.version { return [] }
        return put(call, isFollowed: false, for: me)
    }

    private mutating func change(_ contents: [StreamChange.Content], of stream: String, for me: UserID) -> [Event] {
        guard stream.hasPrefix("call:") else {
            return contents.flatMap { content -> [Event] in
                switch content {
                case .call(let call): hear(call, for: me)
                case .profile(let me): [.profile(me)]
                case .participant, .signal, .leg, .unknown: []
                }
            }
        }
        guard let id = StreamName.call(of: stream), var call = pages[id]?.call else { return [] }
        for content in contents {
            switch content {
            case .call(var fields):
                guard fields.version >= call.version else { continue }
                fields.participants = call.participants
                call = fields
            case .participant(let participant, let version):
                // An answer may have told of a later version already.
                guard version >= call.version else { continue }
                call.version = version
                if let index = call.participants.firstIndex(where: { $0.user == participant.user }) {
                    call.participants[index] = participant
                } else {
                    call.participants.append(participant)
                }
            case .signal, .leg, .profile, .unknown: break
            }
        }
        return put(call, isFollowed: true, for: me)
    }

    private mutating func hear(_ call: Call, for me: UserID) -> [Event] {
        if pages[call.id]?.isFollowed == true, call.status != .ended { return [] }
        return put(call, isFollowed: false, for: me)
    }

    private mutating func follow(_ call: Call, for me: UserID) -> [Event] {
        put(call, isFollowed: true, for: me)
    }

    private mutating func put(_ call: Call, isFollowed: Bool, for me: UserID) -> [Event] {
        guard !ended.contains(call.id) else { return [] }
        guard call.status != .ended else {
            pages[call.id] = nil
            ended.append(call.id)
            if ended.count > Self.memory { ended.removeFirst() }
            return [.over(call)]
        }
        var page = pages[call.id] ?? Page(call: call, isFollowed: isFollowed)
        let isNew = pages[call.id]?.call != call
        page.call = call
        page.isFollowed = page.isFollowed || isFollowed
        let state = call.participant(me)?.state
        let announces = !page.wasAnnounced && call.caller != me && (state == .invited || state == .ringing)
        page.wasAnnounced = page.wasAnnounced || announces
        pages[call.id] = page
        return (isNew ? [.updated(call)] : []) + (announces ? [.incoming(call)] : [])
    }

    private func tell(_ entries: [StreamChange], of stream: String, isWhole: Bool) -> [Event] {
        guard let call = StreamName.call(of: stream) else { return [] }
        let signals = entries.compactMap { if case .signal(let signal) = $0.content { signal } else { nil } }
        let leg = entries.filter { if case .leg = $0.content { true } else { false } }
        return (signals.isEmpty ? [] : [.signals(call, signals, isWhole: isWhole)])
            + (leg.isEmpty ? [] : [.leg(call, leg)])
    }

    private mutating func close(_ stream: String) -> [Event] {
        epochs[stream] = nil
        guard stream.hasPrefix("call:"), let id = StreamName.call(of: stream), pages.removeValue(forKey: id) != nil
        else {
            return []
        }
        return [.gone(id)]
    }
}
