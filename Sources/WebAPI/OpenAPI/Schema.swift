/// The schema of a JSON value: JSON Schema 2020-12 in an OpenAPI 3.1 document.
package indirect enum Schema: Sendable {
    case text(minimum: Int? = nil, maximum: Int? = nil, pattern: String? = nil)
    case identifier
    case time
    case integer(ClosedRange<Int64>? = nil)
    case number(ClosedRange<Double>? = nil)
    case boolean
    case null
    case choice([String])
    case list(Schema, minimum: Int? = nil, maximum: Int? = nil)
    case map(Schema)
    case object([Member])
    case either([Schema])
    /// A reference to a schema in the document's components.
    case named(String)
    case anything
    /// The bytes of a body that is not JSON, such as a file.
    case bytes

    package struct Member: Sendable {
        let name: String
        let schema: Schema
        let isRequired: Bool
        let description: String?

        package static func required(_ name: String, _ schema: Schema, _ description: String? = nil) -> Self {
            Self(name: name, schema: schema, isRequired: true, description: description)
        }

        package static func optional(_ name: String, _ schema: Schema, _ description: String? = nil) -> Self {
            Self(name: name, schema: schema, isRequired: false, description: description)
        }
    }

    package var json: JSON { .object(members) }

    private var members: [(String, JSON)] {
        switch self {
        case .text(let minimum, let maximum, let pattern):
            var members: [(String, JSON)] = [("type", "string")]
            if let minimum { members.append(("minLength", .integer(Int64(minimum)))) }
            if let maximum { members.append(("maxLength", .integer(Int64(maximum)))) }
            if let pattern { members.append(("pattern", .text(pattern))) }
            return members
        case .identifier:
            return [
                ("type", "string"), ("format", "uuid"),
                ("pattern", "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"),
            ]
        case .time: return [("type", "string"), ("format", "date-time")]
        case .integer(let range):
            var members: [(String, JSON)] = [("type", "integer")]
            if let range {
                members += [("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound))]
            }
            return members
        case .number(let range):
            var members: [(String, JSON)] = [("type", "number")]
            if let range {
                members += [("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound))]
            }
            return members
        case .boolean: return [("type", "boolean")]
        case .null: return [("type", "null")]
        case .choice(let choices): return [("type", "string"), ("enum", .array(choices.map { .text($0) }))]
        case .list(let element, let minimum, let maximum):
            var members: [(String, JSON)] = [("type", "array"), ("items", element.json)]
            if let minimum { members.append(("minItems", .integer(Int64(minimum)))) }
            if let maximum { members.append(("maxItems", .integer(Int64(maximum)))) }
            return members
        case .map(let element): return [("type", "object"), ("additionalProperties", element.json)]
        case .object(let members): return Self.object(members)
        case .either(let schemas): return [("anyOf", .array(schemas.map(\.json)))]
        case .named(let name): return [("$ref", .text("#/components/schemas/\(name)"))]
        case .anything: return []
        // OpenAPI 3.1 allows leaving the schema out, but generators know this form of 3.0 for what is not JSON.
        case .bytes: return [("type", "string"), ("format", "binary")]
        }
    }

    private static func object(_ members: [Member]) -> [(String, JSON)] {
        var result: [(String, JSON)] = [("type", "object")]
        if !members.isEmpty {
            result.append(
                (
                    "properties",
                    .object(
                        members.map { member in
                            guard let description = member.description, case .object(let inner) = member.schema.json
                            else {
                                return (member.name, member.schema.json)
                            }
                            return (member.name, .object(inner + [("description", .text(description))]))
                        })
                ))
        }
        let required = members.filter(\.isRequired).map { JSON.text($0.name) }
        if !required.isEmpty { result.append(("required", .array(required))) }
        return result
    }
}

extension Schema {
    /// The values of the choice at the end of a path through a document; nil if there is something else.
    func choices(at path: ArraySlice<any CodingKey>) -> [String]? {
        switch self {
        case .choice(let choices): path.isEmpty ? choices : nil
        case .either(let schemas): schemas.lazy.compactMap { $0.choices(at: path) }.first
        case .named(let name): Schemas.all.first { $0.0 == name }?.1.choices(at: path)
        case .list(let schema, _, _), .map(let schema): path.isEmpty ? nil : schema.choices(at: path.dropFirst())
        case .object(let members):
            members.first { $0.name == path.first?.stringValue }?.schema.choices(at: path.dropFirst())
        default: nil
        }
    }
}
