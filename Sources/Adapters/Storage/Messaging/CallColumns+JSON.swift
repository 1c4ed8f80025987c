import Messaging
import Model

// What conversations and messages keep of calls: columns of JSON, with times in milliseconds. They are written and read with
// every change of a call.

extension StoreTransaction {
    static func text(of call: CallRecord) -> String {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.member("id", call.id)
            writer.member("kind", call.kind)
            writer.member("state", call.state.rawValue)
            writer.member("startedAt", call.startedAt.milliseconds)
            writer.member("answeredAt", call.answeredAt?.milliseconds)
            writer.member("endedAt", call.endedAt?.milliseconds)
            writer.member("reason", call.reason)
            writer.member("endedBy", call.endedBy)
            writer.name("participants")
            writer.array(call.participants) { writer, participant in
                writer.object { writer in
                    writer.member("user", participant.user)
                    writer.member("state", participant.state)
                }
            }
        }
        return writer.text
    }

    static func callRecord(_ text: String) throws -> CallRecord {
        try StoredCall(text).record()
    }

    static func text(of call: LiveCall?) -> String? {
        guard let call else { return nil }
        var writer = JSONWriter(capacity: 128)
        writer.object { writer in
            writer.member("id", call.id)
            writer.member("kind", call.kind)
            writer.member("startedAt", call.startedAt.milliseconds)
            writer.member("number", call.number)
            writer.member("onlyFor", call.onlyFor)
        }
        return writer.text
    }

    static func liveCall(_ text: String?) throws -> LiveCall? {
        guard let text else { return nil }
        return try StoredCall(text).liveCall()
    }
}

/// The members of both columns.
private struct StoredCall {
    private var texts: [String: String] = [:]
    private var numbers: [String: Int64] = [:]
    private var participants: [CallRecord.Participant] = []

    init(_ text: String) throws(SQLError) {
        var reader = JSONReader(Array(text.utf8))
        do {
            try read(&reader)
        } catch {
            throw SQLError(.unexpectedValue, "The column of a call is no JSON: \(error.detail)")
        }
    }

    private mutating func read(_ reader: inout JSONReader) throws(JSONParseError) {
        try reader.beginObject()
        while let name = try reader.nextKey() {
            switch try reader.nextKind() {
            case .string: texts[name] = try reader.readString()
            case .number: numbers[name] = try reader.readInteger()
            case .array where name == "participants":
                try reader.beginArray()
                while try reader.hasElement() { try readParticipant(&reader) }
            case .object, .array, .boolean, .null: _ = try reader.skip()
            }
        }
        try reader.finish()
    }

    private mutating func readParticipant(_ reader: inout JSONReader) throws(JSONParseError) {
        var (user, state): (UserID?, String?)
        try reader.beginObject()
        while let name = try reader.nextKey() {
            switch name {
            case "user": user = UserID(try reader.readString())
            case "state": state = try reader.readString()
            default: _ = try reader.skip()
            }
        }
        if let user, let state { participants.append(CallRecord.Participant(user: user, state: state)) }
    }

    func record() throws -> CallRecord {
        guard let id = texts["id"].flatMap({ CallID($0) }), let kind = texts["kind"],
            let state = texts["state"].flatMap(CallRecord.State.init), let startedAt = numbers["startedAt"]
        else { throw Self.unexpected }
        return CallRecord(
            id: id, kind: kind, state: state, startedAt: Timestamp(milliseconds: startedAt),
            answeredAt: numbers["answeredAt"].map(Timestamp.init), endedAt: numbers["endedAt"].map(Timestamp.init),
            reason: texts["reason"], endedBy: texts["endedBy"].flatMap { UserID($0) }, participants: participants)
    }

    func liveCall() throws -> LiveCall {
        guard let id = texts["id"].flatMap({ CallID($0) }), let kind = texts["kind"],
            let startedAt = numbers["startedAt"], let number = numbers["number"]
        else { throw Self.unexpected }
        return LiveCall(
            id: id, kind: kind, startedAt: Timestamp(milliseconds: startedAt), number: number,
            onlyFor: texts["onlyFor"].flatMap { UserID($0) })
    }

    private static let unexpected = SQLError(.unexpectedValue, "The column of a call lacks what every call has.")
}
