import Foundation
import Logging

// The store of the signed-in user.
extension RealtimeEndpoint {
    var wallClock: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    private var directory: StoreDirectory? {
        if case .directory(let path) = options.store { StoreDirectory(path) } else { nil }
    }

    /// Opens the store of the user to whom a token belongs, if they were connected before.
    func openStore(of token: String?) {
        guard let directory, let subject = token.flatMap({ TokenSubject(of: $0) }),
            let user = directory.user(of: subject)
        else { return }
        openStore(for: user)
    }

    /// Whose store is open.
    var storeOwner: UserID? { messaging.owner }

    /// Opens the store of the signed-in user, if it is known without a connection who that is.
    func openStoreIfNeeded() async {
        if messaging.owner == nil { openStore(of: await credentials.anyToken()) }
    }

    /// Opens the store of a user, unless it is open.
    func openStore(for user: UserID) {
        guard messaging.owner != user else { return }
        // Conversations that were opened before the user was known are theirs.
        if messaging.owner != nil { closeStore() }
        messaging.owner = user
        do {
            try load(ConversationStore(path: directory?.path(of: user)))
            directory?.use(user)
        } catch {
            options.logger?.error("the store of conversations cannot be used", metadata: ["error": "\(error)"])
            // Without its file, the store is in memory: nothing is lost that was not lost before.
            try? load(ConversationStore(path: nil))
        }
        messaging.inboxUpdates.send(())
    }

    private func load(_ store: ConversationStore) throws {
        try store.expire(at: Date())
        try store.removeUnusedSounds()
        let (entries, last, created) = try store.entries()
        messaging.inbox = try store.inbox()
        messaging.queue = WriteQueue(
            entries, after: last, created: created, seed: .random(in: 0...UInt64.max))
        messaging.store = store
        try store.shrink(except: [])
        messaging.inbox.expire(at: Date())
        inboxChanged()
        setExpiryTimer()
    }

    /// Ends what the app reads of the user's conversations, and closes the store.
    func closeStore() {
        let inbox = messaging.owner.map { StreamName.inbox($0) }
        for (id, conversation) in messaging.open {
            act { machine, actions in
                machine.unlisten(StreamName.conversation(id), into: &actions)
                machine.unlisten(StreamName.marks(id), into: &actions)
                machine.unlisten(StreamName.translations(id), into: &actions)
            }
            conversation.updates.finish()
        }
        if let inbox { act { $0.unlisten(inbox, into: &$1) } }
        closeTyping()
        messaging.queueTimer?.task.cancel()
        messaging.expiryTimer?.task.cancel()
        messaging.expiryTimer = nil
        messaging.store?.close()
        (messaging.owner, messaging.store, messaging.queueTimer) = (nil, nil, nil)
        (messaging.isCacheBroken, messaging.isInboxOpen) = (false, false)
        (messaging.inbox, messaging.erased, messaging.runOrder) = (InboxState(), [], [:])
        messaging.queue = WriteQueue(seed: .random(in: 0...UInt64.max))
        messaging.open = [:]
    }

    /// Erases the store of this user, unless another user has signed in meanwhile.
    func eraseStore(of owner: UserID?) {
        if messaging.owner == owner { eraseStore() }
    }

    /// Erases the stored conversations of the user, and also the writes that wait to be sent.
    func eraseStore() {
        let (owner, store) = (messaging.owner, messaging.store)
        closeStore()
        store?.erase()
        if let owner { directory?.forget(owner) }
    }

    func connectedMessaging(for user: UserID) {
        openStore(for: user)
        if let tokenSubject { directory?.remember(user, of: tokenSubject) }
        listenToInbox()
        for id in messaging.open.keys.sorted(by: { $0.rawValue < $1.rawValue }) { listen(to: id) }
        messaging.queue.connected()
        sendQueue()
    }

    func disconnectedMessaging() {
        messaging.isInboxOpen = false
        messaging.inboxUpdates.send(())
        disconnectedTyping()
        for conversation in messaging.open.values {
            (conversation.isOpen, conversation.areMarksKnown) = (false, false)
            conversation.state.resume()
            conversation.updates.send(())
        }
    }

    /// Dispatches a delivery of a stream of keyed state.
    func deliver(_ delivery: EndpointMachine.Delivery, ofKeyed stream: String) {
        if stream.hasPrefix("inbox:") { return deliverInbox(delivery, of: stream) }
        let id = ConversationID(String(stream.drop { $0 != ":" }.dropFirst()))
        guard let conversation = messaging.open[id] else { return }
        if stream.hasPrefix("marks:") { return deliverMarks(delivery, of: conversation, stream: stream) }
        if stream.hasPrefix("translations:") {
            return deliverTranslations(delivery, of: conversation, stream: stream)
        }
        deliver(delivery, of: conversation, stream: stream)
    }

    /// Writes to the cache. After a failure it is left as it is: missing parts are read again in another run.
    func cache(_ write: (ConversationStore) throws -> Void) {
        guard let store = messaging.store, !messaging.isCacheBroken else { return }
        do {
            try write(store)
        } catch {
            messaging.isCacheBroken = true
            options.logger?.error("conversations are not stored any more", metadata: ["error": "\(error)"])
        }
    }

    /// The signed-in user: asks the server if that is not known yet.
    func owner() async throws -> UserID {
        if let owner = messaging.owner { return owner }
        let me: Me = try await request("me.get", Nothing())
        if messaging.owner == nil { openStore(for: me.id) }
        return me.id
    }
}
