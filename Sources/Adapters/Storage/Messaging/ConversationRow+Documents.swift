import Languages
package import Messaging
package import Model

extension ConversationRow {
    /// - Parameter user: for whom alone it is; nil for all.
    package init(_ conversation: Conversation, for user: UserID? = nil) {
        // One that a user has pinned for themselves alone may be pinned for all since.
        var seen: Set<Int64> = []
        let pins = conversation.pins.filter { $0.onlyFor == nil || $0.onlyFor == user }.map(\.number)
            .filter { seen.insert($0).inserted }
        self.init(
            json: Self.json("conversation") { writer in
                conversation.write(
                    to: &writer, for: user, pins: pins,
                    disappearAfter: user.map { conversation.disappearAfter(for: $0) })
            },
            audience: user.map { .only($0) } ?? .listeners, pins: pins)
    }

    /// A message as one member of a direct conversation sees it.
    package init(_ message: SeenMessage, seenBy user: UserID) {
        self.init(
            json: Self.json("message") { message.write(to: &$0) }, audience: .author(user, message.number))
    }

    package init(_ message: SeenMessage) {
        let json = Self.json("message") { message.write(to: &$0) }
        if message.isWithheld || message.isTextWithheld {
            self.init(json: json, audience: .author(message.author, message.number))
        } else {
            self.init(json: json, audience: .message(message.number, isDeletion: message.deletedAt != nil))
        }
    }

    /// - Parameter profile: JSON text.
    package init(_ member: Member, profile: String?) {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.name("member")
            member.write(to: &writer)
            if let profile {
                writer.name("person")
                writer.write(json: profile)
            }
        }
        self.init(json: writer.text, audience: .listeners)
    }

    package init(ownMarks marks: MemberMarks) {
        self.init(json: Self.json("marks") { marks.writeOwn(to: &$0) }, audience: .only(marks.user))
    }

    package init(shownMarks marks: MemberMarks) {
        self.init(json: Self.json("marks") { marks.writeShown(to: &$0) }, audience: .others(than: marks.user))
    }

    package init(_ note: OwnMessage, of user: UserID) {
        self.init(json: Self.json("own") { note.write(to: &$0) }, audience: .only(user))
    }

    package init(_ scheduled: ScheduledSummary, of user: UserID) {
        self.init(json: Self.json("scheduled") { scheduled.write(to: &$0) }, audience: .only(user))
    }

    package init(_ translation: MessageTranslation, for audience: TranslationAudience) {
        self.init(
            json: Self.json("translation") { translation.write(to: &$0) },
            audience: Audience(
                audience, of: translation.number, translation.of, language: translation.target.text))
    }

    package init(_ hints: MessageHints, for audience: TranslationAudience) {
        self.init(
            json: Self.json("hints") { hints.write(to: &$0) },
            audience: Audience(
                audience, of: hints.number, hints.of, language: MessageHints.audience(in: hints.language)))
    }

    private static func json(_ name: String, _ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.name(name)
            write(&writer)
        }
        return writer.text
    }
}

extension ConversationRow.Audience {
    fileprivate init(_ audience: TranslationAudience, of number: Int64, _ version: Int64, language: String) {
        self =
            switch audience {
            case .readers: .readers(number, of: version, language: language)
            case .author(let author): .readers(number, of: version, language: language, only: author)
            case .others(let author): .readers(number, of: version, language: language, except: author)
            }
    }
}
