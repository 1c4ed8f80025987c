/// What somebody said, as text.
public struct Dictation: Hashable, Sendable, Decodable {
    public var text: String
    /// As a BCP 47 tag, if the server's provider reports one.
    public var language: String?
}
