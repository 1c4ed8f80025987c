import Bus
import Foundation
import Model
import NIOCore
import Testing

@testable import Realtime

/// The table of the protocol against the code that reads and writes frames.
@Suite struct ProtocolTests {
    @Test(arguments: ClientFrameKind.allCases)
    func theExampleOfAClientFrameIsSuchAFrame(kind: ClientFrameKind) throws {
        let frame = try ClientFrame.parse(Array(kind.example.utf8), resumptions: 4)
        #expect(frame.kind == kind)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(kind.example.utf8)) as? [String: Any])
        #expect(violations(of: json, by: kind.members) == [])
        // Without a required member it is not a frame.
        for member in kind.members where member.isRequired {
            let rest = try JSONSerialization.data(withJSONObject: json.filter { $0.key != member.name })
            #expect(throws: FrameError.self) { try ClientFrame.parse(Array(rest), resumptions: 4) }
        }
    }

    @Test func framesOfTheServerAreInTheTable() throws {
        let (user, call) = (StreamName.user(alice), StreamName.call(identifier(10)))
        let position = Position(epoch: "e1", sequence: 17)
        let problem = Problem(.conflict, "It is.", field: "call", retryAfter: 5)
        let presence = EphemeralEvent(
            stream: .presence(bob), data: Presence(online: false, lastSeenAt: morning).json)
        let signOut = Change(
            stream: user, position: position, type: UserChangeType.signOut.rawValue,
            data: #"{"session":"00000000-0000-7000-8000-000000000003"}"#)
        let frames: [(ServerFrameKind, StreamPattern?, OutboundFrame)] = [
            (.changes, .user, .changes([signOut], of: user)),
            (.snapshot, .call, .snapshot(Array(#"{"call":{}}"#.utf8), of: call, at: position)),
            (.snapshot, .captions, .snapshot(Array("{}".utf8), of: .captions(identifier(10)), at: .ephemeral)),
            (
                .snapshot, .presence,
                .snapshot(Array(Presence(online: true).json.utf8), of: .presence(bob), at: .ephemeral)
            ),
            (.rows, .inbox, .rows([#"{"id":"x"}"#], of: .inbox(alice), after: 16, upTo: position)),
            (
                .rows, .conversation,
                .rows(
                    [#"{"message":{}}"#], of: .conversation(identifier(11)), after: 16, upTo: position, gap: 3...5)
            ),
            (.event, .presence, .event(presence)),
            (.reset, nil, .reset(call, .gap)),
            (.result, nil, .result(3, Array("{}".utf8), positions: [call: position])),
            (.error, nil, .error(nil, problem)), (.error, nil, .error(3, problem)),
            (.heartbeat, nil, .heartbeat(at: morning)), (.bye, nil, .bye(.slow, retryAfter: 1500)),
            (.bye, nil, .bye(.revoked, retryAfter: nil)),
        ]
        #expect(Set(frames.map(\.0)) == Set(ServerFrameKind.allCases))
        for (kind, pattern, frame) in frames {
            let members = try #require(pattern.map { $0.members(of: kind) } ?? kind.members)
            #expect(violations(of: frame.json, by: members) == [], "\(frame.string)")
            #expect(frame.json[kind == .changes ? "changes" : kind.rawValue] != nil, "\(frame.string)")
        }
    }

    @Test func resultsOfFramesAreInTheTable() throws {
        let stream = StreamName.call(identifier(10))
        let greeting = HelloResult(
            session: identifier(1), user: alice, endpoint: identifier(2), newSecret: "s", heartbeat: .seconds(20),
            serverTime: morning, resumed: [(stream, true), (.user(alice), false)])
        let results: [(ClientFrameKind, OutboundFrame)] = [
            (.hello, .hello(1, greeting)),
            (.listen, .listening(2, to: stream, at: Position(epoch: "e1", sequence: 17))),
            (.unlisten, .done(3)), (.token, .tokenAccepted(4, expiresIn: 900)),
        ]
        for (kind, frame) in results {
            let value = try #require(kind.result)
            let result = try #require(frame.json["result"])
            #expect(violations(of: result, by: value, at: "result") == [], "\(frame.string)")
            #expect(violations(of: frame.json, by: ServerFrameKind.result.members, isOpen: true) == [])
        }
        #expect(ClientFrameKind.heartbeat.result == nil)
    }

    /// What the check itself would miss.
    @Test func violationsAreFound() {
        let members = ServerFrameKind.bye.members
        #expect(violations(of: ["bye": ["code": 4008, "reason": "bored"]], by: members) == ["bye.reason: bored"])
        #expect(violations(of: ["bye": ["reason": "slow"]], by: members) == ["bye.code is missing"])
        #expect(
            violations(of: ["bye": ["code": 4008, "reason": "slow", "x": 1]], by: members)
                == ["bye.x is not in the table"])
    }

    @Test(arguments: StreamPattern.allCases)
    func patternsAreThoseOfStreamNames(pattern: StreamPattern) throws {
        let identifier = "00000000-0000-7000-8000-000000000001"
        let parts = pattern.template.split(separator: ":").map { part in
            part == "{language}" ? "pt-BR" : part.hasPrefix("{") ? identifier : String(part)
        }
        let stream = try #require(StreamName(parts.joined(separator: ":")))
        #expect(StreamPattern(stream) == pattern && stream.text == parts.joined(separator: ":"))
        #expect(stream.kind == pattern.kind)
        #expect((pattern.kind == .log) == !pattern.changes.isEmpty)
        #expect((pattern.kind == .keyed) == !pattern.rows.isEmpty)
        #expect(stream.hasPositions == (pattern.event == nil))
        #expect(Set(pattern.changes.map(\.type)).count == pattern.changes.count)
    }

    @Test func everyCloseCodeIsDistinct() {
        let codes = Bye.allCases.map(\.code) + WebSocketCode.described.map { Int($0.code.number) }
        #expect(Set(codes).count == codes.count)
        #expect(Set(Bye.allCases.map(\.reason)).count == Bye.allCases.count)
    }

    @Test func limitsAreThoseOfTheSession() {
        var limits = RealtimeLimits()
        let names = Set(Mirror(reflecting: limits).children.compactMap(\.label))
        #expect(Set(limits.described.map(\.name)).isSubset(of: names))
        #expect(Set(limits.described.map(\.name)).count == limits.described.count)
        limits.helloTimeout = .milliseconds(7)
        limits.listens = 9
        let values = Dictionary(uniqueKeysWithValues: limits.described.map { ($0.name, $0.value) })
        #expect(values["helloTimeout"] == 7 && values["listens"] == 9)
    }
}

/// Where the object differs from the table: members that are missing, of another shape, or not described.
private func violations(
    of json: [String: Any], by members: [ProtocolMember], at path: String = "", isOpen: Bool = false
) -> [String] {
    func name(_ member: String) -> String { path.isEmpty ? member : path + "." + member }
    var found: [String] = []
    for member in members {
        if let value = json[member.name] {
            if !isOpen { found += violations(of: value, by: member.value, at: name(member.name)) }
        } else if member.isRequired {
            found.append("\(name(member.name)) is missing")
        }
    }
    let known = Set(members.map(\.name))
    return found + json.keys.filter { !known.contains($0) }.sorted().map { "\(name($0)) is not in the table" }
}

private func violations(of json: Any, by value: ProtocolValue, at path: String) -> [String] {
    let text = json as? String
    let isRight: Bool
    switch value {
    case .text: isRight = text != nil
    case .identifier: isRight = text.flatMap { UserID($0) } != nil
    case .time: isRight = text?.hasSuffix("Z") ?? false
    case .integer: isRight = json is Int
    case .boolean: isRight = json is Bool
    case .choice(let choices): return text.map(choices.contains) ?? false ? [] : ["\(path): \(json)"]
    case .streamName(let pattern):
        isRight = text.flatMap { StreamName($0) }.map { pattern == nil || StreamPattern($0) == pattern } ?? false
    case .position:
        let parts = json as? [Any] ?? []
        isRight = parts.count == 2 && parts.first is String && parts.last is Int
    case .resumePosition:
        let parts = json as? [Any] ?? []
        isRight = [2, 4].contains(parts.count) && parts.first is String && parts.dropFirst().allSatisfy { $0 is Int }
    case .empty: isRight = (json as? [String: Any])?.isEmpty ?? false
    case .document: isRight = json is [String: Any]
    case .list(let element):
        guard let elements = json as? [Any] else { return ["\(path): \(json)"] }
        return elements.flatMap { violations(of: $0, by: element, at: path) }
    case .byStream(let element):
        guard let object = json as? [String: Any] else { return ["\(path): \(json)"] }
        return object.flatMap { name, member in
            (StreamName(name) == nil ? ["\(path): \(name)"] : []) + violations(of: member, by: element, at: path)
        }
    case .object(let members):
        guard let object = json as? [String: Any] else { return ["\(path): \(json)"] }
        return members.isEmpty ? [] : violations(of: object, by: members, at: path)
    case .either(let values):
        isRight = values.contains { violations(of: json, by: $0, at: path).isEmpty }
    }
    return isRight ? [] : ["\(path): \(json)"]
}
