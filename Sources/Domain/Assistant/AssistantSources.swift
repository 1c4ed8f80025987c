package import Languages
package import Messaging
package import Model

/// A text as a model is shown it: without what leads somewhere or is nobody else's business, which comes back where the
/// model writes its marker.
package struct SourceText: Hashable, Sendable {
    /// In Unicode scalars; what is beyond is cut.
    package static let maxLength = 1_000

    /// What markers stand for, the first being 1.
    package private(set) var kept: [String] = []
    /// With markers such as `⟦m3.1⟧`.
    package private(set) var shown = ""
    /// The original, by which addresses in an answer are allowed.
    package let original: String

    /// - Parameters:
    ///   - handle: such as `m3`.
    ///   - name: how a person is called who is mentioned.
    package init(_ text: MaskedText, handle: String, name: (UserID) -> String? = { _ in nil }) {
        original = text.original
        var length = 0
        for part in text.parts {
            let piece: String
            switch part {
            case .text(let one): piece = Self.withoutMarkers(one)
            case .kept(let one), .replaced(let one, _):
                if let user = Self.mentioned(one) {
                    piece = "@" + (name(user) ?? "somebody")
                } else if one.unicodeScalars.contains(where: { $0.properties.isAlphabetic || $0.isASCIIDigit }) {
                    kept.append(one)
                    piece = "\u{27E6}\(handle).\(kept.count)\u{27E7}"
                } else {
                    // Emoji say something.
                    piece = Self.withoutMarkers(one)
                }
            }
            let count = piece.unicodeScalars.count
            guard length + count <= Self.maxLength else {
                if case .text = part {
                    shown += String(String.UnicodeScalarView(piece.unicodeScalars.prefix(Self.maxLength - length)))
                }
                shown += "…"
                break
            }
            shown += piece
            length += count
        }
    }

    private static func withoutMarkers(_ text: String) -> String {
        text.replacing("\u{27E6}", with: "(").replacing("\u{27E7}", with: ")")
    }

    /// `<@id>`
    private static func mentioned(_ text: String) -> UserID? {
        guard text.hasPrefix("<@"), text.hasSuffix(">") else { return nil }
        return UserID(String(text.dropFirst(2).dropLast()))
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

/// What a model was shown in a run, by handles that mean something there alone: `m1` is a message, `c1` a conversation,
/// `p1` a person. Whatever it invents stands for nothing.
package struct AssistantSources: Sendable {
    /// Messages of a run.
    package static let maxMessages = 200
    /// Messages that earlier answers rest on, which a run was shown.
    package static let maxInherited = 400
    /// Conversations, and people.
    package static let maxOthers = 100

    package struct Shown: Sendable {
        package var citation: AnswerCitation
        package var text: SourceText
    }

    package private(set) var messages: [Shown] = []
    package private(set) var conversations: [ConversationID] = []
    package private(set) var people: [UserID] = []
    /// What the user wrote: addresses in it may come back.
    package let question: SourceText
    private var handles: [AnswerCitation: Int] = [:]

    /// - Parameter question: as it is asked.
    package init(question: String) {
        let kept = SensitiveText.ranges(in: question)
        self.question = SourceText(MaskedText(question, keeping: kept), handle: "q")
    }

    /// - Returns: the handle and the text that the model is shown; nil if it has seen too many.
    package mutating func show(
        _ message: Message, _ text: MaskedText, name: (UserID) -> String?
    ) -> (handle: String, text: String)? {
        let citation = AnswerCitation(
            conversation: message.conversation, number: message.number, of: message.textVersion)
        if let index = handles[citation] { return ("m\(index + 1)", messages[index].text.shown) }
        guard messages.count < Self.maxMessages else { return nil }
        let handle = "m\(messages.count + 1)"
        let source = SourceText(text, handle: handle, name: name)
        handles[citation] = messages.count
        messages.append(Shown(citation: citation, text: source))
        return (handle, source.shown)
    }

    package mutating func show(_ conversation: ConversationID) -> String? {
        Self.handle("c", of: conversation, in: &conversations)
    }

    package mutating func show(_ person: UserID) -> String? { Self.handle("p", of: person, in: &people) }

    private static func handle<Item: Equatable>(_ letter: String, of item: Item, in list: inout [Item]) -> String? {
        if let index = list.firstIndex(of: item) { return "\(letter)\(index + 1)" }
        guard list.count < maxOthers else { return nil }
        list.append(item)
        return "\(letter)\(list.count)"
    }

    package func message(_ handle: String) -> Shown? { Self.item(handle, "m", messages) }
    package func conversation(_ handle: String) -> ConversationID? { Self.item(handle, "c", conversations) }
    package func person(_ handle: String) -> UserID? { Self.item(handle, "p", people) }

    private static func item<Item>(_ handle: String, _ letter: Character, _ list: [Item]) -> Item? {
        guard handle.first?.lowercased() == String(letter), let number = Int(handle.dropFirst()), number >= 1,
            number <= list.count
        else { return nil }
        return list[number - 1]
    }

    /// What a marker stands for.
    func kept(_ handle: String, _ number: Int) -> String? {
        let text = handle == "q" ? question : message(handle)?.text
        guard let text, number >= 1, number <= text.kept.count else { return nil }
        return text.kept[number - 1]
    }
}
