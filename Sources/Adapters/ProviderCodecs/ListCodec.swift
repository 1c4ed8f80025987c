package import Languages
internal import Model

/// The requests and responses of webhooks and programs.
///
/// ```
/// {"id": "6ab1…", "source": "en", "target": "pt-BR", "texts": ["Hi [X1]!", "…"], "tone": "informal",
///  "terms": [{"source": "backup", "target": "cópia"}]}
/// {"id": "6ab1…", "texts": ["Oi [X1]!", null]}             (null: there is no translation)
/// {"id": "6ab1…", "error": "no such pair"}
/// ```
package enum ListCodec {
    package static func request(
        id: String, _ request: TranslationRequest, texts: [String]
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", id)
            writer.member("source", request.source.string)
            writer.member("target", request.target.string)
            writer.name("texts")
            writer.array(texts) { $0.write($1) }
            writer.member("tone", request.tone?.rawValue)
            if !request.terms.isEmpty {
                writer.name("terms")
                writer.array(request.terms) { writer, term in
                    writer.object { writer in
                        writer.member("source", term.source)
                        writer.member("target", term.target)
                    }
                }
            }
        }
        return writer.bytes
    }

    package struct Response: Hashable {
        package var id: String?
        package var texts: [String?]?
        package var error: String?
    }

    package static func response(_ bytes: some Sequence<UInt8>) throws(TranslationFailure) -> Response {
        do throws(JSONParseError) {
            var reader = JSONReader(Array(bytes))
            var response = Response()
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch (key, try reader.nextKind()) {
                case ("id", .string) where response.id == nil: response.id = try reader.readString()
                case ("error", .string) where response.error == nil: response.error = try reader.readString()
                case ("texts", .array) where response.texts == nil:
                    response.texts = try texts(&reader)
                case ("id", _), ("texts", _):
                    throw JSONParseError(detail: "Expected one id and one array of texts.", offset: reader.position)
                default: _ = try reader.skip()
                }
            }
            try reader.finish()
            return response
        } catch {
            throw .invalidResponse(error.detail)
        }
    }

    private static func texts(_ reader: inout JSONReader) throws(JSONParseError) -> [String?] {
        var texts: [String?] = []
        try reader.beginArray()
        while try reader.hasElement() {
            if try reader.nextKind() == .null {
                _ = try reader.skip()
                texts.append(nil)
            } else {
                texts.append(try reader.readString())
            }
        }
        return texts
    }
}

extension ListCodec.Response {
    /// What became of each text.
    package func results(_ written: [PlaceholderText]) throws(TranslationFailure) -> [TranslationResult] {
        if let error { throw .invalidResponse(String(error.prefix(200))) }
        guard let texts, texts.count == written.count else {
            throw .invalidResponse("Expected a translation for each text.")
        }
        return zip(written, texts).map { text, translation in
            translation.map(text.result) ?? .failed(.invalidResponse("a text without a translation"))
        }
    }
}
