package import Languages
internal import Model

/// `POST /translate` and `GET /languages`, as LibreTranslate has them.
package enum LibreTranslateCodec {
    package enum Format: String {
        case text, html

        /// In a text, LibreTranslate's models keep `[X1]` in its sentence, mostly. In HTML they never see what is not to be
        /// translated, but may translate the pieces between one by one, and its responses are not escaped.
        package var style: PlaceholderStyle { self == .text ? .square : .elements }
    }

    package static func request(
        _ texts: [PlaceholderText], _ format: Format, from source: String, into target: String, key: String?
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("q")
            writer.array(texts) { $0.write($1.text) }
            writer.member("source", source)
            writer.member("target", target)
            writer.member("format", format.rawValue)
            writer.member("api_key", key)
        }
        return writer.bytes
    }

    package static func translations(_ response: [UInt8], count: Int) throws(TranslationFailure) -> [String] {
        do throws(JSONParseError) {
            var reader = JSONReader(response)
            var texts: [String]?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                guard key == "translatedText" else {
                    _ = try reader.skip()
                    continue
                }
                guard texts == nil else { throw JSONParseError(detail: "It is there twice.", offset: reader.position) }
                var read: [String] = []
                try reader.beginArray()
                while try reader.hasElement() { read.append(try reader.readString()) }
                texts = read
            }
            try reader.finish()
            guard let texts, texts.count == count else {
                throw JSONParseError(detail: "Expected a translation for each text.", offset: 0)
            }
            return texts
        } catch {
            throw .invalidResponse(error.detail)
        }
    }

    /// The codes of targets by those of sources. Older servers list no targets: they have every pair.
    package static func languages(_ response: [UInt8]) throws(TranslationFailure) -> [String: Set<String>] {
        do throws(JSONParseError) {
            var reader = JSONReader(response)
            var languages: [String: Set<String>?] = [:]
            try reader.beginArray()
            while try reader.hasElement() {
                var code = ""
                var targets: Set<String>?
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    switch (key, try reader.nextKind()) {
                    case ("code", .string): code = try reader.readString()
                    case ("targets", .array):
                        var read: Set<String> = []
                        try reader.beginArray()
                        while try reader.hasElement() { read.insert(try reader.readString()) }
                        targets = read
                    default: _ = try reader.skip()
                    }
                }
                languages[code] = .some(targets)
            }
            try reader.finish()
            let codes = Set(languages.keys)
            return languages.mapValues { $0 ?? codes }
        } catch {
            throw .invalidResponse(error.detail)
        }
    }
}
