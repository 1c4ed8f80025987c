import Model
import Webhooks

/// The events of a call's change, which are written in its transaction.
///
/// Like the entries of streams they follow from the document before and after, so that no command can forget one. A user
/// from whom the call is withheld gets neither a ring nor a missed call.
struct CallEvents {
    let difference: CallDifference
    let now: Timestamp

    private var call: Call { difference.after }

    /// Does nothing, without a query, if nobody subscribes.
    func write(to store: some CallStore) throws {
        let changed = call.participants.filter { !$0.isWithheld }
        let ringing = store.subscriptions.includes(.callRinging) ? changed.filter(beginsToRing) : []
        let answered = store.subscriptions.includes(.callAnswered) ? changed.filter(hasAnswered) : []
        let missed =
            store.subscriptions.includes(.callMissed) ? try changed.filter { try hasMissed($0, in: store) } : []
        let ended = store.subscriptions.includes(.callEnded) && difference.hasEnded
        guard ended || !(ringing.isEmpty && answered.isEmpty && missed.isEmpty) else { return }

        let ids = try store.externalIDs(of: call.participants.map(\.user))
        for participant in ringing {
            let devices = try store.eventDevices(of: participant.user)
            try insert(
                .callRinging, of: participant, until: participant.ringsUntil, in: store,
                data: ringingData(participant, devices, ids))
        }
        for participant in answered {
            try insert(.callAnswered, of: participant, in: store, data: data(of: participant, ids))
        }
        for participant in missed {
            try insert(.callMissed, of: participant, in: store, data: data(of: participant, ids))
        }
        if ended { try insert(.callEnded, in: store, data: endedData(ids)) }
    }

    private func insert(
        _ type: EventType, of participant: Participant? = nil, until: Timestamp? = nil, in store: some CallStore,
        data: String
    ) throws {
        try store.insert(
            EventRecord(
                id: .make(at: now), type: type, at: now, expiresAt: until, user: participant?.user, call: call.id,
                data: data))
    }
}

// Which changes are events.
extension CallEvents {
    private func earlier(_ participant: Participant) -> Participant? {
        difference.before?.participant(participant.user)
    }

    private func beginsToRing(_ participant: Participant) -> Bool {
        guard participant.isRinging else { return false }
        return earlier(participant).map { !$0.isRinging || $0.isWithheld } ?? true
    }

    /// The caller of a call that an endpoint created has joined it from the start, which is no answer; neither is coming
    /// back, nor taking over from another endpoint.
    private func hasAnswered(_ participant: Participant) -> Bool {
        guard participant.isJoined, let earlier = earlier(participant) else { return false }
        if case .left = earlier.state { return false }
        return !earlier.isJoined
    }

    private func hasMissed(_ participant: Participant, in store: some CallStore) throws -> Bool {
        let earlier = earlier(participant)
        switch participant.state {
        case .missed: return earlier?.isRinging == true
        // Nothing could ring: the user learns of it later.
        case .unreachable: return try earlier?.state != .unreachable && !store.isDisabled(participant.user)
        default: return false
        }
    }
}

// Their data.
extension CallEvents {
    private func ringingData(_ participant: Participant, _ devices: [EventDevice], _ ids: [UserID: String]) -> String {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            write(participant, ids, to: &writer)
            writer.member("deadline", participant.ringsUntil)
            writer.name("devices")
            writer.array(devices) { $1.write(to: &$0) }
        }
        return writer.text
    }

    private func data(of participant: Participant, _ ids: [UserID: String]) -> String {
        var writer = JSONWriter(capacity: 512)
        writer.object { write(participant, ids, to: &$0) }
        return writer.text
    }

    private func endedData(_ ids: [UserID: String]) -> String {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writeCall(ids, to: &writer)
            writer.member("reason", call.ending?.reason.rawValue)
            writer.member("endedBy", call.ending?.by)
            writer.member("createdAt", call.createdAt)
            writer.member("answeredAt", call.answeredAt)
            writer.member("endedAt", call.ending?.at)
            writer.name("participants")
            writer.array(call.participants) { writer, participant in
                writer.object { writer in
                    EventParty(user: participant.user, externalID: ids[participant.user]).write(to: &writer)
                    writer.member("state", participant.state.name)
                }
            }
        }
        return writer.text
    }

    /// What the events of one participant have in common.
    private func write(_ participant: Participant, _ ids: [UserID: String], to writer: inout JSONWriter) {
        writeCall(ids, to: &writer)
        EventParty(user: participant.user, externalID: ids[participant.user]).write(to: &writer)
    }

    private func writeCall(_ ids: [UserID: String], to writer: inout JSONWriter) {
        writer.member("call", call.id)
        writer.member("version", call.version)
        writer.member("kind", call.kind.rawValue)
        writer.member("mode", call.mode.name)
        if let caller = call.participants.first {
            writer.name("caller")
            writer.object {
                EventParty(
                    user: caller.user, externalID: ids[caller.user], displayName: caller.displayName
                ).write(to: &$0)
            }
        }
    }
}
