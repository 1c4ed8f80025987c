import Messaging
import Model

extension InMemoryMessagingStore {
    func groupLink(hash: [UInt8]) -> GroupLink? { links.first { $0.hash == hash }?.link }
    func groupLinks(of conversation: ConversationID) -> [GroupLink] {
        links.map(\.link).filter { $0.conversation == conversation }.sorted { $0.id.text < $1.id.text }
    }
    func insert(_ link: GroupLink, hash: [UInt8]) { links.append((link, hash)) }
    func update(_ link: GroupLink) {
        for index in links.indices where links[index].link.id == link.id { links[index].link = link }
    }
    func remove(_ link: GroupLink) { links.removeAll { $0.link.id == link.id } }

    func declines(of user: UserID, _ subject: DeclineSubject) -> Declines? { declined[user]?[subject] }
    func save(_ declines: Declines, of user: UserID, _ subject: DeclineSubject) {
        declined[user, default: [:]][subject] = declines
    }
}
