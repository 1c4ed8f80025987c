internal import Calls
internal import Model

// Conversion between call documents and rows.

/// The columns of a call and of one of its participants, in the order in which `CallRows` reads them.
enum CallColumns {
    static let call = """
        c.id, c.conversation_id, c.kind, c.mode, c.created_at, c.version, c.status, c.answered_at, c.empty_until,
        c.ended_at, c.end_reason, c.ended_by, c.gateway_epoch, c.recording_id, c.recording_by, c.recording_at,
        c.recording_until, c.recording_end, c.was_recorded, c.captions_by, c.captions_at, c.captions_failure,
        c.is_open
        """
    static let callCount = 23
    /// The indices of the gateway's first column and the captions' first column.
    static let gateway = 12
    static let captions = 19
    static let participant = """
        p.user_id, p.display_name, p.photo_url,
        (SELECT 1 FROM users d WHERE d.id = p.user_id AND d.deleted_at IS NOT NULL),
        p.withheld, p.state, p.ring_until, p.endpoint_id, p.sign_in_id, p.joined_at, p.connected, p.setup_until, p.detached_at, p.taken_over, p.left_at, p.reason, p.pushed_at, p.audio, p.video, p.screen, p.held,
        p.loss, p.jitter, p.round_trip, p.relayed, p.seconds
        """
    static let document = "SELECT \(call), \(participant) FROM calls c JOIN participants p ON p.call_id = c.id"
}

/// Reads documents from the rows of `CallColumns.document`: one row per participant, grouped by call.
struct CallRows {
    static func calls(_ rows: [SQLRow]) throws -> [Call] {
        var calls: [Call] = []
        var start = rows.startIndex
        while start < rows.endIndex {
            let id = try rows[start].text(0)
            var end = start + 1
            while end < rows.endIndex, try rows[end].text(0) == id { end += 1 }
            calls.append(try call(rows[start..<end]))
            start = end
        }
        return calls
    }

    static func call(_ rows: ArraySlice<SQLRow>) throws -> Call {
        guard let first = rows.first else { throw SQLError(.unexpectedValue, "A call has no participants.") }
        let participants = try rows.map { try participant(ColumnReader($0, from: CallColumns.callCount)) }
        var columns = ColumnReader(first)
        return Call(
            id: try columns.id(), conversation: try columns.idIfPresent(),
            isOpen: try first.bool(CallColumns.callCount - 1), kind: try columns.enumCase(),
            mode: try mode(named: try columns.text(), of: first), createdAt: try columns.time(),
            version: try columns.integer(), status: try status(&columns), recording: try recording(of: first),
            recordingEnd: try first.textIfPresent(CallColumns.gateway + 5).flatMap(Recording.EndReason.init),
            wasRecorded: try first.integerIfPresent(CallColumns.gateway + 6) == 1, captions: try captions(of: first),
            participants: participants)
    }

    private static func recording(of row: SQLRow) throws -> Call.OngoingRecording? {
        var columns = ColumnReader(row, from: CallColumns.gateway + 1)
        guard let id = try columns.idIfPresent(of: Entities.Recording.self),
            let user = try columns.idIfPresent(of: Entities.User.self), let since = try columns.timeIfPresent()
        else { return nil }
        return Call.OngoingRecording(id: id, by: user, since: since, until: try columns.timeIfPresent())
    }

    private static func captions(of row: SQLRow) throws -> Call.OngoingCaptions? {
        var columns = ColumnReader(row, from: CallColumns.captions)
        guard let user = try columns.idIfPresent(of: Entities.User.self), let since = try columns.timeIfPresent() else {
            return nil
        }
        return Call.OngoingCaptions(by: user, since: since, failure: try columns.textIfPresent())
    }

    private static func mode(named name: String, of row: SQLRow) throws -> Call.Mode {
        var last = ColumnReader(row, from: CallColumns.gateway)
        switch (name, try last.integerIfPresent()) {
        case ("direct", _): return .direct
        case ("gateway", .some(let epoch)): return .gateway(epoch: epoch)
        default:
            throw SQLError(.unexpectedValue, "A call has the mode \(name), which contradicts its other columns.")
        }
    }

    private static func status(_ columns: inout ColumnReader) throws -> Call.Status {
        let name = try columns.text()
        let answeredAt = try columns.timeIfPresent()
        let emptyUntil = try columns.timeIfPresent()
        switch name {
        case "ringing": return .ringing
        case "active":
            guard let answeredAt else { break }
            return .active(since: answeredAt, emptyUntil: emptyUntil)
        case "ended":
            guard let endedAt = try columns.timeIfPresent() else { break }
            return .ended(
                Call.Ending(
                    reason: try columns.enumCase(), by: try columns.idIfPresent(), at: endedAt, answeredAt: answeredAt))
        default: break
        }
        throw SQLError(.unexpectedValue, "A call has the status \(name), which contradicts its other columns.")
    }

    private static func participant(_ reader: ColumnReader) throws -> Participant {
        var columns = reader
        return Participant(
            user: try columns.id(), displayName: try columns.text(), photoURL: try columns.textIfPresent(),
            isDeleted: try columns.integerIfPresent() != nil, isWithheld: try columns.bool(),
            state: try state(&columns), pushedAt: try columns.timeIfPresent(),
            media: MediaState(
                audio: try columns.bool(), video: try columns.bool(), screen: try columns.bool(),
                held: try columns.bool()),
            quality: try quality(&columns))
    }

    private static func state(_ columns: inout ColumnReader) throws -> Participant.State {
        let name = try columns.text()
        let ringUntil = try columns.timeIfPresent()
        let endpoint = try columns.idIfPresent(of: Entities.Endpoint.self)
        let signIn = try columns.idIfPresent(of: Entities.SignIn.self)
        let joinedAt = try columns.timeIfPresent()
        let isConnected = try columns.bool()
        let setupUntil = try columns.timeIfPresent()
        let detachedAt = try columns.timeIfPresent()
        let hasTakenOver = try columns.bool()
        let leftAt = try columns.timeIfPresent()
        let reason = try columns.textIfPresent().flatMap(Call.EndReason.init)
        switch name {
        case "invited": if let ringUntil { return .invited(until: ringUntil) }
        case "ringing": if let ringUntil { return .ringing(until: ringUntil) }
        case "joined":
            guard let endpoint, let joinedAt else { break }
            return .joined(
                Participant.Joining(
                    endpoint: endpoint, signIn: signIn, since: joinedAt, isConnected: isConnected,
                    setupUntil: setupUntil,
                    detachedAt: detachedAt, hasTakenOver: hasTakenOver))
        case "left":
            guard let joinedAt, let leftAt, let reason else { break }
            return .left(joinedAt: joinedAt, at: leftAt, reason: reason)
        case "declined": return .declined
        case "busy": return .busy
        case "missed": return .missed
        case "unreachable": return .unreachable
        default: break
        }
        throw SQLError(
            .unexpectedValue, "A participant has the state \(name), which contradicts its other columns.")
    }

    private static func quality(_ columns: inout ColumnReader) throws -> QualitySummary? {
        guard let loss = try columns.realIfPresent(), let jitter = try columns.realIfPresent(),
            let roundTrip = try columns.realIfPresent(), let relayed = try columns.integerIfPresent(),
            let seconds = try columns.realIfPresent()
        else { return nil }
        return QualitySummary(
            loss: loss, jitter: jitter, roundTrip: roundTrip, relayed: relayed != 0, seconds: seconds)
    }
}

// Values for the columns.
extension Call {
    /// The columns of a call that change during its life.
    var changingValues: [SQLValue] {
        var emptyUntil: Timestamp?
        if case .active(_, let until) = status { emptyUntil = until }
        return [
            .integer(version), .text(status.name), .text(pair), .time(answeredAt), .time(emptyUntil),
            .time(ending?.at), .text(ending?.reason.rawValue), .id(ending?.by), .text(mode.name),
            .integer(gatewayEpoch), .id(recording?.id), .id(recording?.by), .time(recording?.since),
            .time(recording?.until), .text(recordingEnd?.rawValue), .integer(wasRecorded ? 1 : nil),
            .id(captions?.by), .time(captions?.since), .text(captions?.failure),
        ]
    }
}

extension Participant {
    /// The columns of a participant that change during its life, but for `live` and `withheld`.
    var changingValues: [SQLValue] {
        var leftAt: Timestamp?
        var reason: Call.EndReason?
        var joinedAt = joining?.since
        if case .left(let joined, let left, let why) = state { (joinedAt, leftAt, reason) = (joined, left, why) }
        return [
            .text(state.name), .time(ringsUntil), .id(endpoint), .id(joining?.signIn), .time(joinedAt),
            .bool(joining?.isConnected ?? false),
            .time(joining?.setupUntil), .time(joining?.detachedAt), .bool(joining?.hasTakenOver ?? false),
            .time(leftAt), .text(reason?.rawValue), .bool(media.audio), .bool(media.video), .bool(media.screen),
            .bool(media.held), .real(quality?.loss), .real(quality?.jitter), .real(quality?.roundTrip),
            .integer(quality.map { $0.relayed ? 1 : 0 }), .real(quality?.seconds), .time(pushedAt),
        ]
    }
}
