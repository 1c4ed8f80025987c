package import Model

/// Texts and their translations as JSON, each with a key of its own: `{"1": "…", "2": "…"}`. Language models that are given
/// a list drop, repeat or join what is in it.
package enum KeyedTexts {
    package static func write(_ texts: [String], to writer: inout JSONWriter) {
        writer.object { writer in
            for (index, text) in texts.enumerated() { writer.member(key(index), text) }
        }
    }

    static func key(_ index: Int) -> String { String(index + 1) }

    /// The translations in a value; nil where one is missing.
    ///
    /// - Throws: if there is one that was not asked for, or twice.
    static func read(_ reader: inout JSONReader, count: Int) throws(JSONParseError) -> [String?] {
        var texts = [String?](repeating: nil, count: count)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            guard let number = Int(key), number >= 1, number <= count, key == Self.key(number - 1),
                texts[number - 1] == nil
            else { throw JSONParseError(detail: "Expected each requested key once.", offset: reader.position) }
            texts[number - 1] = try reader.readString()
        }
        return texts
    }

    /// As `read`, of what a model wrote: JSON alone, or with a few words or marks of code around it.
    static func read(fromText text: String, count: Int) throws(JSONParseError) -> [String?] {
        var reader = JSONReader(try WrittenObject.bytes(in: text))
        let texts = try read(&reader, count: count)
        try reader.finish()
        return texts
    }

    /// A JSON Schema (draft 2020-12) in what all strict modes understand.
    package static func schema(count: Int) -> String {
        let keys = (0..<count).map(key)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "object")
            writer.name("properties")
            writer.object { writer in
                for key in keys {
                    writer.name(key)
                    writer.object { $0.member("type", "string") }
                }
            }
            writer.name("required")
            writer.array(keys) { $0.write($1) }
            writer.member("additionalProperties", false)
        }
        return writer.text
    }
}

/// What a model wrote: a JSON object alone, or with a few words or marks of code around it.
enum WrittenObject {
    static func bytes(in text: String) throws(JSONParseError) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard let start = bytes.firstIndex(of: UInt8(ascii: "{")), let end = bytes.lastIndex(of: UInt8(ascii: "}")),
            start < end
        else { throw JSONParseError(detail: "Expected an object.", offset: 0) }
        return Array(bytes[start...end])
    }
}
