import Messaging
import Model

/// A text that a model was given: what the models of tests write are lines of these, so that it can be told what they rest
/// on.
struct TextReference: Hashable, Sendable {
    var conversation: ConversationID
    var number: Int64
    /// The version of the text.
    var of: Int64
    var words: String

    init(_ message: Message) {
        conversation = message.conversation
        number = message.number
        of = message.textVersion
        words = message.text ?? ""
    }

    private init?(line: Substring) {
        let parts = line.split(separator: " ", maxSplits: 3)
        guard parts.count == 4, let conversation = ConversationID(String(parts[0])), let number = Int64(parts[1]),
            let of = Int64(parts[2])
        else { return nil }
        (self.conversation, self.number, self.of, words) = (conversation, number, of, String(parts[3]))
    }

    static func text(of references: [TextReference]) -> String {
        references.map { "\($0.conversation) \($0.number) \($0.of) \($0.words)" }.joined(separator: "\n")
    }

    /// - Returns: nil if it is no such text.
    static func list(_ text: String) -> [TextReference]? {
        let lines = text.split(separator: "\n")
        let references = lines.compactMap { TextReference(line: $0) }
        return references.count == lines.count ? references : nil
    }
}
