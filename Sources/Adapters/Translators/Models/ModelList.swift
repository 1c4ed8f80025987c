internal import Languages
internal import Model
internal import Providers

/// `GET …/models`, as OpenAI and Anthropic have it: `{"data": [{"id": "…"}, …]}`.
enum ModelList {
    /// The ids; nil if it is another document.
    static func ids(_ response: [UInt8]) -> [String]? {
        var reader = JSONReader(response)
        do throws(JSONParseError) {
            var ids: [String] = []
            try reader.beginObject()
            while let key = try reader.nextKey() {
                guard key == "data", try reader.nextKind() == .array else {
                    _ = try reader.skip()
                    continue
                }
                try reader.beginArray()
                while try reader.hasElement() {
                    try reader.beginObject()
                    while let key = try reader.nextKey() {
                        if key == "id", try reader.nextKind() == .string {
                            ids.append(try reader.readString())
                        } else {
                            _ = try reader.skip()
                        }
                    }
                }
            }
            try reader.finish()
            return ids
        } catch {
            return nil
        }
    }

    /// What a service says of a model, as clauses. Some have no list: that says nothing.
    static func details(
        of model: String, at url: String, _ endpoint: JSONEndpoint, deadline: ContinuousClock.Instant
    ) async -> [String] {
        guard let response = try? await endpoint.get(url, deadline: deadline), response.status == 200,
            let ids = ids(response.body)
        else { return ["the model \(model)"] }
        return [ids.contains(model) ? "the model \(model), one of \(ids.count)" : "\(ids.count) models, not \(model)"]
    }
}
