import Model
import Realtime

/// The JSON Schemas of the realtime protocol, in what draft-07 (AsyncAPI 3.0) and 2020-12 (OpenAPI 3.1) share.
struct ProtocolSchemas {
    /// The documents that the REST API also has.
    let documents: [(String, Schema)]

    func schema(of value: ProtocolValue) -> JSON {
        switch value {
        case .text(let limit):
            guard let limit else { return Schema.text().json }
            // A character has at least one byte.
            return Schema.text(minimum: 1, maximum: limit).json
        case .identifier: return Schema.identifier.json
        case .time: return Schema.time.json
        case .integer(let range): return Schema.integer(range).json
        case .boolean: return Schema.boolean.json
        case .choice(let choices): return Schema.choice(choices).json
        case .list(let element): return .object([("type", "array"), ("items", schema(of: element))])
        case .either(let values):
            if values.count == 1, let only = values.first { return schema(of: only) }
            return .object([("anyOf", .array(values.map(schema)))])
        case .object(let members): return object(members)
        case .empty: return .object([("type", "object"), ("maxProperties", 0)])
        case .byStream(let value):
            return .object([
                ("type", "object"), ("propertyNames", Self.reference(Self.streamName)),
                ("additionalProperties", schema(of: value)),
            ])
        case .document(let name, let omitted, let added): return document(name, without: omitted, with: added)
        case .streamName(let pattern): return Self.reference(pattern.map(Self.name) ?? Self.streamName)
        case .position: return Self.reference("Position")
        case .resumePosition: return Schema.list(.either([.text(), .integer()]), minimum: 2, maximum: 4).json
        }
    }

    func object(_ members: [ProtocolMember]) -> JSON {
        var result: [(String, JSON)] = [("type", "object")]
        if !members.isEmpty { result.append(("properties", .object(members.map(property)))) }
        let required = members.filter(\.isRequired).map { JSON.text($0.name) }
        if !required.isEmpty { result.append(("required", .array(required))) }
        return .object(result)
    }

    private func property(_ member: ProtocolMember) -> (String, JSON) {
        let schema = schema(of: member.value)
        guard let meaning = member.meaning, case .object(let inner) = schema else { return (member.name, schema) }
        // Draft-07 ignores what stands beside a reference.
        let described = inner.contains { $0.0 == "$ref" } ? [("allOf", JSON.array([schema]))] : inner
        return (member.name, .object(described + [("description", .text(meaning))]))
    }

    private func document(_ name: String, without omitted: [String], with added: [ProtocolMember]) -> JSON {
        var schema = Self.reference(name)
        if !omitted.isEmpty, case .object(let members)? = documents.first(where: { $0.0 == name })?.1 {
            schema = Schema.object(members.filter { !omitted.contains($0.name) }).json
        }
        return added.isEmpty ? schema : .object([("allOf", .array([schema, object(added)]))])
    }
}

// Names of components.
extension ProtocolSchemas {
    static let streamName = "StreamName"

    static func reference(_ name: String) -> JSON { .object([("$ref", .text("#/components/schemas/\(name)"))]) }

    static func name(of pattern: StreamPattern) -> String { capitalized(pattern.rawValue) + "Stream" }

    static func name(of frame: ClientFrameKind) -> String {
        frame == .heartbeat ? "ClientHeartbeatFrame" : capitalized(frame.rawValue) + "Frame"
    }

    static func name(of frame: ServerFrameKind) -> String {
        frame == .heartbeat ? "ServerHeartbeatFrame" : capitalized(frame.rawValue) + "Frame"
    }

    /// Such as `CallChanges`.
    static func name(of frame: ServerFrameKind, _ pattern: StreamPattern) -> String {
        capitalized(pattern.rawValue) + capitalized(frame.rawValue)
    }

    /// `calls.stopCaptions` is `CallsStopCaptions`, followed by `Request` or `Result`.
    static func name(of request: Operation) -> String {
        request.name.split(separator: ".").map { capitalized(String($0)) }.joined()
    }

    private static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}

// Components.
extension ProtocolSchemas {
    /// The names of streams.
    var streamNames: [(String, JSON)] {
        let identifier = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
        let language = "[0-9a-zA-Z-]{2,35}"
        let names = StreamPattern.allCases.map { pattern in
            let parts = pattern.parameters.map { ":" + ($0 == "language" ? language : identifier) }.joined()
            let schema = JSON.object([
                ("type", "string"), ("pattern", .text("^\(pattern.prefix)\(parts)$")),
                ("description", .text("`\(pattern.template)`: \(pattern.meaning)")),
            ])
            return (Self.name(of: pattern), schema)
        }
        let all = JSON.object([("anyOf", .array(names.map { Self.reference($0.0) }))])
        return names + [(Self.streamName, all)]
    }

    /// The frames of the client, except requests.
    var clientFrames: [(String, JSON)] {
        ClientFrameKind.allCases.flatMap { frame -> [(String, JSON)] in
            guard frame != .request else { return [] }
            return [(Self.name(of: frame), object(frame.members))]
                + (frame.result.map { [(Self.resultName(of: frame), schema(of: $0))] } ?? [])
        } + [(Self.hello, object(ClientFrameKind.helloMembers))]
    }

    /// The object of a hello frame.
    static let hello = "Hello"

    static func resultName(of frame: ClientFrameKind) -> String { capitalized(frame.rawValue) + "Result" }

    var serverFrames: [(String, JSON)] {
        ServerFrameKind.allCases.flatMap { frame -> [(String, JSON)] in
            guard frame.isOfStream else { return [(Self.name(of: frame), object(frame.members))] }
            let frames = StreamPattern.allCases.compactMap { pattern in
                pattern.members(of: frame).map { (Self.name(of: frame, pattern), object($0)) }
            }
            return frames + [(Self.name(of: frame), .object([("anyOf", .array(frames.map { Self.reference($0.0) }))]))]
        }
    }
}

// Requests: their parameters are those of their routes.
extension ProtocolSchemas {
    func requests(_ operations: [Operation]) -> [(String, JSON)] {
        let identified = ClientFrameKind.request.members.filter { $0.name == "id" }
        let requests = operations.flatMap { operation -> [(String, JSON)] in
            let name = Self.name(of: operation)
            let isNeeded =
                operation.parameters.contains(where: \.isRequired)
                || (operation.body.map(\.hasRequiredMembers) ?? false)
            let request = JSON.object([
                ("type", "object"), ("description", .text(operation.summary)),
                (
                    "properties",
                    .object([
                        ("request", Schema.choice([operation.name]).json), ("params", Self.params(of: operation)),
                    ])
                ),
                ("required", .array([.text("request")] + (isNeeded ? [.text("params")] : []))),
            ])
            return [(name + "Request", request), (name + "Result", Self.result(of: operation))]
        }
        let frame = JSON.object([
            (
                "allOf",
                .array([
                    object(identified),
                    .object([
                        ("anyOf", .array(operations.map { Self.reference(Self.name(of: $0) + "Request") }))
                    ]),
                ])
            )
        ])
        return requests + [(Self.name(of: .request), frame)]
    }

    /// What REST has in path, query and body.
    private static func params(of operation: Operation) -> JSON {
        let parameters = Schema.object(
            operation.parameters.map { parameter in
                parameter.isRequired
                    ? .required(parameter.name, parameter.schema, parameter.description)
                    : .optional(parameter.name, parameter.schema, parameter.description)
            }
        ).json
        guard let body = operation.body else { return parameters }
        return operation.parameters.isEmpty ? body.json : .object([("allOf", .array([parameters, body.json]))])
    }

    private static func result(of operation: Operation) -> JSON {
        let results = operation.responses.map { ($0.schema ?? .object([])).json }
        guard results.count != 1, !results.isEmpty else { return results.first ?? .object([("type", "object")]) }
        return .object([("anyOf", .array(results))])
    }
}

extension Schema {
    fileprivate var hasRequiredMembers: Bool {
        if case .object(let members) = self { members.contains(where: \.isRequired) } else { false }
    }
}
