internal import Foundation
package import Languages
package import Model

/// The requests and responses of programs that embed, a line each, with the names of OpenAI's endpoint:
///
/// ```
/// {"id": "6ab1…", "input_type": "query", "input": ["wireless login"]}        (or "passage")
/// {"id": "6ab1…", "embeddings": ["q83vEg…"]}           (Base64 of 32-bit floats, the lowest byte first)
/// {"id": "6ab1…", "error": "no such model"}
/// ```
package enum EmbeddingCodec {
    package struct Request: Hashable {
        package var id: String
        package var purpose: EmbeddingRequest.Purpose
        package var texts: [String]
    }

    package struct Response: Hashable {
        package var id: String?
        package var embeddings: [[Float]]?
        package var error: String?
    }

    package static func request(id: String, _ request: EmbeddingRequest) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", id)
            writer.member("input_type", request.purpose.rawValue)
            writer.name("input")
            writer.array(request.texts) { $0.write($1) }
        }
        return writer.bytes
    }

    /// What a program reads.
    package static func request(_ line: some Sequence<UInt8>) throws(JSONParseError) -> Request {
        var reader = JSONReader(Array(line))
        var (id, purpose, texts): (String?, EmbeddingRequest.Purpose?, [String]?)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case ("id", .string): id = try reader.readString()
            case ("input_type", .string): purpose = EmbeddingRequest.Purpose(rawValue: try reader.readString())
            case ("input", .array): texts = try strings(&reader)
            default: _ = try reader.skip()
            }
        }
        try reader.finish()
        guard let id, let purpose, let texts else {
            throw JSONParseError(detail: "Expected id, input_type and input.", offset: reader.position)
        }
        return Request(id: id, purpose: purpose, texts: texts)
    }

    package static func response(id: String, _ embeddings: [[Float]]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", id)
            writer.name("embeddings")
            writer.array(embeddings) { $0.write(base64($1)) }
        }
        return writer.bytes
    }

    package static func response(id: String, error: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", id)
            writer.member("error", error)
        }
        return writer.bytes
    }

    package static func response(_ bytes: some Sequence<UInt8>) throws(EmbeddingFailure) -> Response {
        do throws(JSONParseError) {
            var reader = JSONReader(Array(bytes))
            var response = Response()
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch (key, try reader.nextKind()) {
                case ("id", .string) where response.id == nil: response.id = try reader.readString()
                case ("error", .string) where response.error == nil: response.error = try reader.readString()
                case ("embeddings", .array) where response.embeddings == nil:
                    var embeddings: [[Float]] = []
                    for text in try strings(&reader) {
                        guard let floats = floats(base64: text) else {
                            throw JSONParseError(detail: "Expected Base64 of floats.", offset: reader.position)
                        }
                        embeddings.append(floats)
                    }
                    response.embeddings = embeddings
                case ("id", _), ("embeddings", _):
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

    private static func strings(_ reader: inout JSONReader) throws(JSONParseError) -> [String] {
        var strings: [String] = []
        try reader.beginArray()
        while try reader.hasElement() { strings.append(try reader.readString()) }
        return strings
    }

    private static func base64(_ floats: [Float]) -> String {
        var data = Data(capacity: 4 * floats.count)
        for float in floats {
            for shift in stride(from: 0, to: 32, by: 8) {
                data.append(UInt8(truncatingIfNeeded: float.bitPattern >> UInt32(shift)))
            }
        }
        return data.base64EncodedString()
    }

    /// Nil if it is no whole number of floats.
    static func floats(base64 text: String) -> [Float]? {
        guard let data = Data(base64Encoded: text), data.count.isMultiple(of: 4), !data.isEmpty else { return nil }
        let bytes = [UInt8](data)
        return stride(from: 0, to: bytes.count, by: 4).map { start in
            Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) })
        }
    }
}

extension EmbeddingCodec.Response {
    /// - Throws: if it is not a vector for each text, all of as many dimensions.
    package func vectors(_ count: Int) throws(EmbeddingFailure) -> [EmbeddingVector] {
        if let error { throw .invalidResponse(String(error.prefix(200))) }
        return try EmbeddingVector.all(embeddings ?? [], count: count)
    }
}

extension EmbeddingVector {
    /// - Throws: if there is not one for each text, or one is no vector, or has other dimensions than another.
    package static func all(_ embeddings: [[Float]], count: Int) throws(EmbeddingFailure) -> [EmbeddingVector] {
        guard embeddings.count == count, Set(embeddings.map(\.count)).count <= 1 else {
            throw .invalidResponse("Expected a vector for each text, all of as many dimensions.")
        }
        var vectors: [EmbeddingVector] = []
        for embedding in embeddings {
            guard let vector = EmbeddingVector(embedding) else {
                throw .invalidResponse("Expected vectors of \(Self.dimensions) numbers, not all zero.")
            }
            vectors.append(vector)
        }
        return vectors
    }
}
