import Messaging
import Model

// The lists that are read and written with every message. A text has hundreds of ranges, and `JSONDecoder` takes more than
// a millisecond for them.
extension StoreTransaction {
    static func text(of ranges: [TextRange]) -> String? {
        guard !ranges.isEmpty else { return nil }
        var writer = JSONWriter(capacity: 48 * ranges.count)
        writer.array(ranges) { writer, range in
            writer.object { writer in
                writer.member("kind", range.kind.rawValue)
                writer.member("start", Int64(range.start))
                writer.member("length", Int64(range.length))
                writer.member("user", range.user)
            }
        }
        return writer.text
    }

    static func ranges(_ text: String?) throws(SQLError) -> [TextRange] {
        try list(text) { reader throws(JSONParseError) in
            var (kind, user): (TextRange.Kind?, UserID?)
            var (start, length): (Int64?, Int64?)
            try reader.beginObject()
            while let name = try reader.nextKey() {
                switch name {
                case "kind": kind = TextRange.Kind(rawValue: try reader.readString())
                case "start": start = try reader.readInteger()
                case "length": length = try reader.readInteger()
                case "user": user = UserID(try reader.readString())
                default: _ = try reader.skip()
                }
            }
            guard let kind, let start, let length else { return nil }
            return TextRange(kind, start: Int(start), length: Int(length), user: user)
        }
    }

    static func text(of reactions: [MessageReaction]) -> String? {
        guard !reactions.isEmpty else { return nil }
        var writer = JSONWriter(capacity: 256 * reactions.count)
        writer.array(reactions) { writer, reaction in
            writer.object { writer in
                writer.member("emoji", reaction.emoji)
                writer.member("count", Int64(reaction.count))
                writer.name("users")
                writer.array(reaction.users) { $0.write($1) }
            }
        }
        return writer.text
    }

    static func reactions(_ text: String?) throws(SQLError) -> [MessageReaction] {
        try list(text) { reader throws(JSONParseError) in
            var emoji: String?
            var count: Int64?
            var users: [UserID] = []
            try reader.beginObject()
            while let name = try reader.nextKey() {
                switch name {
                case "emoji": emoji = try reader.readString()
                case "count": count = try reader.readInteger()
                case "users":
                    try reader.beginArray()
                    while try reader.hasElement() {
                        if let user = UserID(try reader.readString()) { users.append(user) }
                    }
                default: _ = try reader.skip()
                }
            }
            guard let emoji, let count else { return nil }
            return MessageReaction(emoji: emoji, count: Int(count), users: users)
        }
    }

    /// - Parameter element: reads one; nil where it lacks what every one has.
    private static func list<Element>(
        _ text: String?, _ element: (inout JSONReader) throws(JSONParseError) -> Element?
    ) throws(SQLError) -> [Element] {
        guard let text else { return [] }
        var reader = JSONReader(Array(text.utf8))
        var elements: [Element] = []
        do throws(JSONParseError) {
            try reader.beginArray()
            while try reader.hasElement() {
                guard let one = try element(&reader) else {
                    throw JSONParseError(detail: "An element lacks a member.", offset: reader.position)
                }
                elements.append(one)
            }
            try reader.finish()
        } catch {
            throw SQLError(.unexpectedValue, "The column of a message is not what it should be: \(error.detail)")
        }
        return elements
    }
}
