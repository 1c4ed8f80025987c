import Languages
import Model
import Testing

@testable import Messaging

@Suite("What may be made of messages")
struct MessageLevelTests {
    @Test("who has left may have no more made of a group's messages than it allows now")
    func former() throws {
        let chat = Chat(people: 2)
        let (id, store) = (try chat.group([1]), chat.store)
        func allow(_ level: IntelligenceLevel) throws {
            var settings = ConversationSettings()
            settings.intelligence = level
            _ = try chat.commands.change(id, settings: settings, by: chat.people[0], in: store)
        }
        try allow(.full)
        for user in chat.people { store.translations.choices[user] = LanguageChoices(intelligence: .full) }
        let sent = try chat.send("I left the keys on the table", to: id, by: 0)
        try chat.commands.leave(id, by: chat.people[1], in: store)
        func isReadable() throws -> Bool {
            try chat.commands.isReadable(
                sent.number, of: sent.textVersion, in: id, isHosted: true, by: chat.people[1], in: store)
        }
        #expect(try isReadable())
        try allow(.local)
        #expect(try !isReadable())
    }

    @Test("who is gone allows nothing of what they wrote, and keeps nothing from the other one")
    func gone() throws {
        let chat = Chat(people: 3)
        let (id, store) = (try chat.direct(0, 1), chat.store)
        store.translations.choices[chat.people[0]] = LanguageChoices(intelligence: .full)
        let theirs = try chat.send("see you at nine", to: id, by: 1)
        let group = try chat.group([2])
        let forward = OutgoingMessage(
            clientID: chat.newID(), forward: MessageReference(id, theirs.number), digest: [])
        let forwarded = try chat.commands.send(forward, to: group, by: chat.people[0], in: store).message
        let own = try chat.send("at nine then", to: id, by: 0)
        store.inactive.insert(chat.people[1])
        let rules = IntelligenceRules(defaultLevel: .full)
        func level(_ message: SeenMessage) throws -> IntelligenceLevel {
            let conversation = try #require(store.conversation(message.conversation))
            var levels = MessageLevels(conversation, rules: rules, in: store)
            return try levels.level(of: message.message)
        }
        #expect(try level(theirs) == .off)
        #expect(try level(forwarded) == .off)
        #expect(try level(own) == .full)
    }
}
