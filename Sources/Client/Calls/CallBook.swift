/// The live calls of an endpoint, assembled from its streams, as a state machine without I/O.
///
/// A call's own stream is authoritative. The user's stream reports calls whose own stream has not arrived yet (they
/// ring), and the end of calls.
struct CallBook: Sendable {
    enum Event: Hashable, Sendable {
        /// A call rings for the user; reported once.
        case incoming(Call)
        case updated(Call)
        /// The call has ended; the document is final.
        case ended(Call)
        /// The user may no longer see the call.
        case gone(CallID)
        /// Signals arrived. If `isWhole`, they are the whole mailbox, and some may have been reported before.
        case signals(CallID, [Signal], isWhole: Bool)
        /// Mailbox entries about the gateway leg.
        case leg(CallID, [StreamChange])
        /// Captions of a call.
        case captions(CallID, [Caption])
        case profile(Me)
    }

    private struct Record: Sendable {
        var call: Call
        /// Whether the call's own stream has arrived.
        var hasOwnStream: Bool
        var wasAnnounced = false
    }

    /// How many ended calls are remembered, so that a late document does not revive one.
    private static let maxEndedCount = 256

    private var records: [CallID: Record] = [:]
    private var ended: [CallID] = []
    /// The epochs of the streams.
    private var epochs: [String: String] = [:]

    /// The live calls, by id.
    var live: [CallID: Call] { records.mapValues(\.call) }

    /// The streams that the endpoint should have for the live calls.
    func streams(of user: UserID, at endpoint: EndpointID) -> [String] {
        records.values.flatMap { record -> [String] in
            let mine = record.call.participant(user)
            let isHere = mine?.state == .joined && mine?.endpoint == endpoint
            return [StreamName.call(record.call.id)] + (isHere ? [StreamName.signals(record.call.id, endpoint)] : [])
        }
    }

    /// Applies a delivery of a stream, for the user `me`.
    mutating func apply(_ delivery: EndpointMachine.Delivery, of stream: String, for me: UserID) -> [Event] {
        if case .snapshot(_, let position) = delivery { recordEpoch(position.epoch, of: stream) }
        return switch delivery {
        case .snapshot(.user(let document), _):
            [.profile(document.me)] + document.calls.flatMap { applyUserStream($0, for: me) }
        case .snapshot(.call(let call), _): applyCallStream(call, for: me)
        case .snapshot(.signals(let entries), _): mailboxEvents(entries, of: stream, isWhole: true)
        case .snapshot(.presence, _), .snapshot(.conversation, _), .snapshot(.inbox, _), .snapshot(.marks, _),
            .snapshot(.translations, _), .snapshot(.run, _), .snapshot(.unknown, _),
            .presence, .rows, .listening, .typing, .captionTranslation, .run:
            []
        case .caption(let caption): StreamName.call(of: stream).map { [.captions($0, [caption])] } ?? []
        case .changes(let changes):
            (stream.hasPrefix("signals:") ? mailboxEvents(changes, of: stream, isWhole: false) : [])
                + change(changes.map(\.content), of: stream, for: me)
        case .closed: close(stream)
        }
    }

    /// Versions are comparable only within an epoch: after a restore, a call may be in an earlier state.
    private mutating func recordEpoch(_ epoch: String, of stream: String) {
        guard let before = epochs.updateValue(epoch, forKey: stream), before != epoch else { return }
        if stream.hasPrefix("user:") {
            ended = []
            for id in records.keys { forgetVersion(of: id) }
        } else if stream.hasPrefix("call:"), let id = StreamName.call(of: stream) {
            ended.removeAll { $0 == id }
            forgetVersion(of: id)
        }
    }

    private mutating func forgetVersion(of id: CallID) {
        records[id]?.call.version = 0
        records[id]?.hasOwnStream = false
    }

    /// Applies a document from a response, if it is newer than the known one.
    mutating func apply(_ call: Call, for me: UserID) -> [Event] {
        if let record = records[call.id], record.call.version >= call.version { return [] }
        return store(call, hasOwnStream: false, for: me)
    }

    private mutating func change(_ contents: [StreamChange.Content], of stream: String, for me: UserID) -> [Event] {
        guard stream.hasPrefix("call:") else {
            return contents.flatMap { content -> [Event] in
                switch content {
                case .call(let call): applyUserStream(call, for: me)
                case .profile(let me): [.profile(me)]
                case .participant, .signal, .leg, .friend, .friendRemoved, .unknown: []
                }
            }
        }
        guard let id = StreamName.call(of: stream), var call = records[id]?.call else { return [] }
        for content in contents {
            switch content {
            case .call(var fields):
                guard fields.version >= call.version else { continue }
                fields.participants = call.participants
                call = fields
            case .participant(let participant, let version):
                // A response may have contained a later version already.
                guard version >= call.version else { continue }
                call.version = version
                if let index = call.participants.firstIndex(where: { $0.user == participant.user }) {
                    call.participants[index] = participant
                } else {
                    call.participants.append(participant)
                }
            case .signal, .leg, .profile, .friend, .friendRemoved, .unknown: break
            }
        }
        return store(call, hasOwnStream: true, for: me)
    }

    private mutating func applyUserStream(_ call: Call, for me: UserID) -> [Event] {
        if records[call.id]?.hasOwnStream == true, call.status != .ended { return [] }
        return store(call, hasOwnStream: false, for: me)
    }

    private mutating func applyCallStream(_ call: Call, for me: UserID) -> [Event] {
        store(call, hasOwnStream: true, for: me)
    }

    private mutating func store(_ call: Call, hasOwnStream: Bool, for me: UserID) -> [Event] {
        guard !ended.contains(call.id) else { return [] }
        guard call.status != .ended else {
            records[call.id] = nil
            ended.append(call.id)
            if ended.count > Self.maxEndedCount { ended.removeFirst() }
            return [.ended(call)]
        }
        var record = records[call.id] ?? Record(call: call, hasOwnStream: hasOwnStream)
        let isNew = records[call.id]?.call != call
        record.call = call
        record.hasOwnStream = record.hasOwnStream || hasOwnStream
        let state = call.participant(me)?.state
        let announces = !record.wasAnnounced && call.caller != me && (state == .invited || state == .ringing)
        record.wasAnnounced = record.wasAnnounced || announces
        records[call.id] = record
        return (isNew ? [.updated(call)] : []) + (announces ? [.incoming(call)] : [])
    }

    private func mailboxEvents(_ entries: [StreamChange], of stream: String, isWhole: Bool) -> [Event] {
        guard let call = StreamName.call(of: stream) else { return [] }
        let signals = entries.compactMap { if case .signal(let signal) = $0.content { signal } else { nil } }
        let leg = entries.filter { if case .leg = $0.content { true } else { false } }
        return (signals.isEmpty ? [] : [.signals(call, signals, isWhole: isWhole)])
            + (leg.isEmpty ? [] : [.leg(call, leg)])
    }

    private mutating func close(_ stream: String) -> [Event] {
        epochs[stream] = nil
        guard stream.hasPrefix("call:"), let id = StreamName.call(of: stream), records.removeValue(forKey: id) != nil
        else {
            return []
        }
        return [.gone(id)]
    }
}
