import Languages
import Model
import Testing

@testable import Messaging

@Suite("Conversations and their members")
struct ConversationCommandsTests {
    @Test("two people have one conversation, whoever begins it, and everybody has one for notes")
    func pairs() throws {
        let chat = Chat(people: 2)
        let (ann, ben) = (chat.people[0], chat.people[1])
        let first = try chat.commands.createDirect(with: ben, id: chat.newID(), by: ann, in: chat.store)
        let second = try chat.commands.createDirect(with: ann, id: chat.newID(), by: ben, in: chat.store)
        #expect(first.isNew && !second.isNew)
        #expect(first.found.conversation == second.found.conversation && second.found.conversation.memberCount == 2)
        #expect(
            problem { _ = try chat.commands.createDirect(with: ann, id: chat.newID(), by: ann, in: chat.store) }
                == .invalidRequest)
        let notes = try chat.commands.createNotes(id: chat.newID(), by: ann, in: chat.store)
        #expect(try chat.commands.createNotes(id: chat.newID(), by: ann, in: chat.store).found == notes.found)
        try chat.send("remember", to: notes.found.conversation.id, by: 0)
        #expect(
            problem { _ = try chat.commands.get(notes.found.conversation.id, by: ben, in: chat.store) } == .notFound)
    }

    @Test("a request of a stranger is three messages, until it is accepted")
    func request() throws {
        let chat = Chat(people: 2, areFriends: false)
        let id = try chat.commands.createDirect(
            with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
        )
        .found.conversation.id
        for number in 1...3 { try chat.send("\(number)", to: id, by: 0) }
        #expect(problem { try chat.send("4", to: id, by: 0) } == .forbidden)
        #expect(try chat.texts(id, by: 1) == ["1", "2", "3"])
        #expect(problem { try chat.send("no", to: id, by: 1) } == .forbidden)
        for _ in 0..<2 {
            let found = try chat.commands.accept(id, by: chat.people[1], in: chat.store)
            #expect(found.member.state == .member && found.conversation.memberCount == 2)
        }
        try chat.send("yes", to: id, by: 1)
        try chat.send("4", to: id, by: 0)
        #expect(try chat.texts(id, by: 0) == ["1", "2", "3", "yes", "4"])
    }

    @Test("a request is three messages, however they are changed, whether it waits, was declined or is blocked")
    func changesOfRequest() throws {
        for standing in ["waits", "declined", "blocked"] {
            let chat = Chat(people: 2, areFriends: false)
            let (store, commands, ann) = (chat.store, chat.commands, chat.people[0])
            if standing == "blocked" { store.blocks.insert(chat.people) }
            let id = try chat.direct(0, 1)
            let sent = try chat.send("may I?", to: id, by: 0)
            if standing == "declined" { try commands.decline(id, by: chat.people[1], in: store) }
            let before = store.conversation(id)
            let text = try MessageText("more and more")
            #expect(
                problem {
                    _ = try commands.edit(1, in: id, text: text, basedOn: sent.textVersion, by: ann, store: store)
                } == .forbidden, "\(standing)")
            #expect(
                problem { _ = try commands.setLanguage(LanguageTag("es"), of: 1, in: id, by: ann, store: store) }
                    == .forbidden, "\(standing)")
            #expect(
                problem { _ = try commands.change(id, disappearAfter: 60, by: ann, in: store) } == .forbidden,
                "\(standing)")
            #expect(store.conversation(id) == before)
            // What was written may be taken back, and counts all the same.
            _ = try commands.delete(1, in: id, by: ann, store: store)
            for number in 2...3 { try chat.send("\(number)", to: id, by: 0) }
            #expect(problem { try chat.send("4", to: id, by: 0) } == .forbidden, "\(standing)")
        }
    }

    @Test("a request that waits is accepted when the two become friends, and one that was declined is not")
    func friendship() throws {
        for declines in [false, true] {
            let chat = Chat(people: 2, areFriends: false)
            let (store, commands, ben) = (chat.store, chat.commands, chat.people[1])
            try commands.acceptRequest(between: ben, and: chat.people[0], in: store)
            let id = try chat.direct(0, 1)
            try chat.send("may I?", to: id, by: 0)
            if declines { try commands.decline(id, by: ben, in: store) }
            store.friends.insert(Set(chat.people))
            for _ in 0..<2 { try commands.acceptRequest(between: ben, and: chat.people[0], in: store) }
            #expect(store.member(ben, of: id)?.state == (declines ? .left : .member))
            #expect(store.conversation(id)?.memberCount == (declines ? 1 : 2))
            guard !declines else { continue }
            try chat.send("of course", to: id, by: 1)
            _ = try chat.react("👍", to: 1, in: id, by: 1)
            #expect(try chat.texts(id, by: 1) == ["may I?", "of course"])
        }
    }

    @Test("who is invited back reads what they had, and nothing of what is there now")
    func invitedBack() throws {
        let chat = Chat(people: 2, areFriends: false)
        let (store, commands, ben) = (chat.store, chat.commands, chat.people[1])
        let id = try chat.group([1])
        _ = try commands.accept(id, by: ben, in: store)
        for number in 1...2 { try chat.send("old \(number)", to: id, by: 0) }
        _ = try commands.pin(1, in: id, by: chat.people[0], store: store)
        try commands.leave(id, by: ben, in: store)
        let (before, found) = (try chat.page(of: id, by: 1), try commands.get(id, by: ben, in: store))
        for number in 3...5 { try chat.send("as old as \(number)", to: id, by: 0) }
        _ = try commands.pin(2, in: id, by: chat.people[0], store: store)
        _ = try commands.add([ben], to: id, by: chat.people[0], in: store)
        let invited = try commands.get(id, by: ben, in: store)
        #expect(invited.member.state == .invited && invited.pins.isEmpty)
        #expect(try chat.page(of: id, by: 1) == before && before.messages.map(\.text) == ["old 1", "old 2"])
        #expect(try chat.page(.around(9), of: id, by: 1).messages == before.messages)
        #expect(problem { _ = try commands.message(3, in: id, by: ben, store: store) } == .notFound)
        #expect(try commands.message(2, in: id, by: ben, store: store).text == "old 2")
        #expect(try chat.search("old", by: 1).map(\.number) == [2, 1])
        // Declining changes nothing of it, nor does accepting.
        try commands.decline(id, by: ben, in: store)
        #expect(try chat.page(of: id, by: 1) == before && commands.get(id, by: ben, in: store).pins == found.pins)
        store.friends.insert(Set(chat.people))
        _ = try commands.add([ben], to: id, by: chat.people[0], in: store)
        try chat.send("6", to: id, by: 0)
        #expect(try chat.texts(id, by: 1) == ["old 1", "old 2", "6"])
    }

    @Test("who was never in a group does not learn from an invitation how much was written in it")
    func invitation() throws {
        let chat = Chat(people: 2, areFriends: false)
        let id = try chat.group([])
        _ = try chat.commands.add([chat.people[1]], to: id, by: chat.people[0], in: chat.store)
        let before = try chat.page(of: id, by: 1)
        #expect(before.messages.isEmpty && before.range == nil && !before.hasEarlier && !before.hasLater)
        try chat.send("a secret", to: id, by: 0)
        #expect(try chat.page(of: id, by: 1) == before)
    }

    @Test("nothing tells somebody who asks that the other has blocked them")
    func blocked() throws {
        func transcript(isBlocked: Bool) throws -> [String] {
            let chat = Chat(people: 2, areFriends: false)
            if isBlocked { chat.store.blocks.insert([chat.people[0], chat.people[1]]) }
            let found = try chat.commands.createDirect(
                with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
            ).found
            let id = found.conversation.id
            var said = ["\(found.conversation.memberCount) \(found.member.state)"]
            for number in 1...4 {
                let kind = problem { try chat.send("\(number)", to: id, by: 0) }
                said.append(kind.map(\.rawValue) ?? "sent")
            }
            let members = try chat.commands.members(of: id, after: nil, limit: 10, by: chat.people[0], in: chat.store)
            said.append(contentsOf: members.members.map { "\($0.role) \($0.state) \($0.version)" })
            said.append(
                contentsOf: try chat.page(of: id, by: 0).messages.map { "\($0.number) \($0.version) \($0.text ?? "")" })
            #expect(try chat.texts(id, by: 1) == (isBlocked ? [] : ["1", "2", "3"]))
            return said
        }
        #expect(try transcript(isBlocked: true) == transcript(isBlocked: false))
    }

    @Test("strangers are invited to a group, and see nothing of it before they accept")
    func invited() throws {
        let chat = Chat(people: 3, areFriends: false)
        chat.store.friends.insert([chat.people[0], chat.people[1]])
        let id = try chat.group([1, 2, 1], name: "Trip")
        try chat.send("before", to: id, by: 0)
        let invitation = try chat.commands.get(id, by: chat.people[2], in: chat.store)
        #expect(invitation.member.state == .invited && invitation.conversation.memberCount == 2)
        #expect(try chat.texts(id, by: 2) == [])
        #expect(
            problem { _ = try chat.commands.members(of: id, after: nil, limit: 9, by: chat.people[2], in: chat.store) }
                == .forbidden)
        #expect(problem { try chat.send("x", to: id, by: 2) } == .forbidden)
        #expect(try chat.commands.accept(id, by: chat.people[2], in: chat.store).conversation.memberCount == 3)
        try chat.send("after", to: id, by: 1)
        #expect(try chat.texts(id, by: 2) == ["after"], "the span begins when it is accepted")
    }

    @Test("who leaves keeps what was seen, and who returns does not see what was in between")
    func leaving() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let sent = try chat.send("one", to: id, by: 0)
        for _ in 0..<2 { try chat.commands.leave(id, by: chat.people[2], in: chat.store) }
        let text = try MessageText("changed")
        _ = try chat.commands.edit(
            1, in: id, text: text, basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        try chat.send("two", to: id, by: 1)
        #expect(try chat.texts(id, by: 2) == ["one"], "as it was, though it was edited since")
        #expect(problem { try chat.send("x", to: id, by: 2) } == .forbidden)
        _ = try chat.commands.add([chat.people[2]], to: id, by: chat.people[0], in: chat.store)
        try chat.send("three", to: id, by: 0)
        #expect(try chat.texts(id, by: 2) == ["one", "three"])
        #expect(try chat.texts(id, by: 0) == ["changed", "two", "three"])
        _ = try chat.commands.delete(1, in: id, by: chat.people[0], store: chat.store)
        #expect(try chat.texts(id, by: 2) == ["", "three"], "deletions reach everybody")
    }

    @Test("leaving before anything was written, twice")
    func leavingAtOnce() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        for _ in 0..<2 { try chat.commands.leave(id, by: chat.people[1], in: chat.store) }
        #expect(problem { _ = try chat.commands.get(id, by: chat.people[1], in: chat.store) } == .notFound)
    }

    @Test("a group always has one owner while somebody is in it")
    func owners() throws {
        let chat = Chat(people: 4)
        let id = try chat.group([1, 2, 3])
        func owners() -> [Int] {
            chat.people.indices.filter { chat.store.member(chat.people[$0], of: id)?.role == .owner }
        }
        func change(_ role: MemberRole, of other: Int, by user: Int) throws {
            _ = try chat.commands.change(
                role: role, of: chat.people[other], in: id, by: chat.people[user], store: chat.store)
        }
        #expect(owners() == [0])
        #expect(problem { try change(.admin, of: 2, by: 1) } == .forbidden)
        try change(.admin, of: 2, by: 0)
        try change(.admin, of: 3, by: 2)
        #expect(problem { try change(.member, of: 3, by: 2) } == .forbidden)
        #expect(problem { try change(.owner, of: 3, by: 0) } == .conflict)
        for _ in 0..<2 { _ = try chat.commands.handOver(id, to: chat.people[1], by: chat.people[0], in: chat.store) }
        #expect(owners() == [1])
        #expect(
            problem { _ = try chat.commands.handOver(id, to: chat.people[3], by: chat.people[0], in: chat.store) }
                == .forbidden)
        #expect(
            problem { try chat.commands.remove(chat.people[1], from: id, by: chat.people[0], in: chat.store) }
                == .forbidden)
        try chat.commands.leave(id, by: chat.people[1], in: chat.store)
        #expect(owners() == [0], "an administrator, who joined first")
        for person in [0, 2, 3] {
            try chat.commands.leave(id, by: chat.people[person], in: chat.store)
            #expect(owners().count == (person == 3 ? 0 : 1))
        }
        #expect(chat.store.conversation(id)?.memberCount == 0)
    }

    @Test("names and settings change by those who may, once")
    func settings() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1], name: "A")
        let before = try chat.commands.get(id, by: chat.people[0], in: chat.store).conversation
        #expect(try chat.commands.rename(id, to: "A", by: chat.people[1], in: chat.store).conversation == before)
        let renamed = try chat.commands.rename(id, to: "B", by: chat.people[1], in: chat.store).conversation
        #expect(renamed.name == "B" && renamed.version == before.sequence + 1)
        let closed = ConversationSettings(write: .admins, add: .admins, rename: .admins)
        #expect(
            problem { _ = try chat.commands.change(id, settings: closed, by: chat.people[1], in: chat.store) }
                == .forbidden)
        _ = try chat.commands.change(id, settings: closed, by: chat.people[0], in: chat.store)
        #expect(problem { _ = try chat.commands.rename(id, to: "C", by: chat.people[1], in: chat.store) } == .forbidden)
        #expect(problem { try chat.send("x", to: id, by: 1) } == .forbidden)
        try chat.send("news", to: id, by: 0)
    }

    @Test("who has blocked somebody is invited by them like any stranger, and does not learn of it")
    func invitedByTheBlocked() throws {
        let chat = Chat(people: 4, areFriends: false)
        let (ann, ben, cleo, dan) = (chat.people[0], chat.people[1], chat.people[2], chat.people[3])
        chat.store.blocks.insert([ann, ben])
        let id = try chat.group([1, 2])
        _ = try chat.commands.add([dan, ben], to: id, by: ann, in: chat.store)
        let seen = try chat.commands.members(of: id, after: nil, limit: 9, by: ann, in: chat.store).members
        #expect(seen.filter { $0.user != ann }.map(\.state) == [.invited, .invited, .invited])
        #expect(problem { _ = try chat.commands.get(id, by: ben, in: chat.store) } == .notFound)
        #expect(try chat.commands.get(id, by: cleo, in: chat.store).member.state == .invited)
        // Nor when the block ends; others invite them then.
        chat.store.blocks = []
        #expect(problem { _ = try chat.commands.accept(id, by: ben, in: chat.store) } == .notFound)
        try chat.commands.remove(ben, from: id, by: ann, in: chat.store)
        _ = try chat.commands.add([ben], to: id, by: ann, in: chat.store)
        #expect(try chat.commands.accept(id, by: ben, in: chat.store).member.state == .member)
    }

    @Test("groups and requests are bounded, and those who do not exist are not added")
    func bounds() throws {
        var chat = Chat(people: 5)
        var limits = ConversationLimits()
        (limits.members, limits.addedAtOnce, limits.conversations) = (4, 3, 2)
        chat.commands = ConversationCommands.quiet(limits)
        #expect(problem { _ = try chat.group([1, 2, 3, 4]) } == .invalidRequest)
        let id = try chat.group([1, 2, 3])
        #expect(
            problem { _ = try chat.commands.add([chat.people[4]], to: id, by: chat.people[0], in: chat.store) }
                == .conflict)
        // Who is in it already takes no room.
        _ = try chat.commands.add([chat.people[1], chat.people[1]], to: id, by: chat.people[0], in: chat.store)
        chat.store.inactive.insert(chat.people[4])
        #expect(problem { _ = try chat.group([4]) } == .notFound)
        _ = try chat.group([1])
        #expect(problem { _ = try chat.group([1]) } == .conflict)
    }

    @Test("what strangers begin is accepted or refused if the user says so, and the refusal looks like a request")
    func messageRequests() throws {
        let chat = Chat(people: 4, areFriends: false)
        let (ann, ben) = (chat.people[0], chat.people[1])
        chat.store.requestPolicies[ben] = .refuse
        let refused = try chat.direct(0, 1)
        let asked = try chat.direct(0, 2)
        for id in [refused, asked] {
            #expect(chat.store.conversation(id)?.memberCount == 1)
            let seen = try chat.commands.members(of: id, after: nil, limit: 10, by: ann, in: chat.store).members
            #expect(Set(seen.map(\.state)) == [.member, .invited])
            for _ in 0..<3 { try chat.send("hello", to: id, by: 0) }
            #expect(problem { try chat.send("a fourth", to: id, by: 0) } == .forbidden)
        }
        #expect(problem { _ = try chat.page(of: refused, by: 1) } == .notFound)
        #expect(try chat.texts(asked, by: 2).count == 3)
        let group = try chat.group([1])
        #expect(problem { _ = try chat.commands.get(group, by: ben, in: chat.store) } == .notFound)
        chat.store.requestPolicies[chat.people[3]] = .accept
        let accepted = try chat.direct(0, 3)
        #expect(chat.store.conversation(accepted)?.memberCount == 2)
        // Who has refused begins it themselves.
        #expect(try chat.direct(1, 0) == refused)
        #expect(chat.store.conversation(refused)?.memberCount == 2)
    }
}
