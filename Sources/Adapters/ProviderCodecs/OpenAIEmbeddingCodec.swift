package import Languages
internal import Model

/// The requests and responses of OpenAI's `/v1/embeddings`.
package enum OpenAIEmbeddingCodec {
    /// `input_type` is what some servers tell queries and passages apart by; others ignore it.
    package static func request(_ request: EmbeddingRequest, model: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("model", model)
            writer.name("input")
            writer.array(request.texts) { $0.write($1) }
            writer.member("encoding_format", "base64")
            writer.member("input_type", request.purpose.rawValue)
        }
        return writer.bytes
    }

    /// `{"data": [{"index": 0, "embedding": "…"}, …]}`, in Base64 or as numbers, by their indices.
    package static func embeddings(_ bytes: [UInt8]) throws(EmbeddingFailure) -> [[Float]] {
        var found: [Int: [Float]] = [:]
        do throws(JSONParseError) {
            var reader = JSONReader(bytes)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                guard key == "data", try reader.nextKind() == .array else {
                    _ = try reader.skip()
                    continue
                }
                try reader.beginArray()
                while try reader.hasElement() {
                    let (index, embedding) = try entry(&reader, bytes)
                    guard found.updateValue(embedding, forKey: index ?? found.count) == nil else {
                        throw JSONParseError(detail: "An index is there twice.", offset: reader.position)
                    }
                }
            }
            try reader.finish()
        } catch {
            throw .invalidResponse(error.detail)
        }
        let indices = found.keys.sorted()
        guard indices == Array(0..<found.count) else { throw .invalidResponse("The indices have gaps.") }
        return indices.compactMap { found[$0] }
    }

    private static func entry(
        _ reader: inout JSONReader, _ bytes: [UInt8]
    ) throws(JSONParseError) -> (index: Int?, [Float]) {
        var (index, embedding): (Int?, [Float]) = (nil, [])
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("index", .number): index = Int(exactly: try reader.readInteger())
            case ("embedding", .string):
                guard let floats = EmbeddingCodec.floats(base64: try reader.readString()) else {
                    throw JSONParseError(detail: "Expected Base64 of floats.", offset: reader.position)
                }
                embedding = floats
            case ("embedding", .array):
                try reader.beginArray()
                while try reader.hasElement() {
                    guard let number = Float(String(decoding: bytes[try reader.skip()], as: UTF8.self)) else {
                        throw JSONParseError(detail: "Expected numbers.", offset: reader.position)
                    }
                    embedding.append(number)
                }
            default: _ = try reader.skip()
            }
        }
        return (index, embedding)
    }
}
