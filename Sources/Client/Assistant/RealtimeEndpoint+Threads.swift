import Foundation

/// What was stored when something was asked for, and whose it is.
struct AnswersBefore: Sendable {
    var owner: UserID?
    var threads: Set<AssistantThreadID> = []
    var runs: Set<AssistantRunID> = []
}

// Threads of the assistant, as they are stored.
extension RealtimeEndpoint {
    /// What is stored now; of the runs, those of one thread.
    func answersBefore(ofThread id: AssistantThreadID? = nil) async -> AnswersBefore {
        await openStoreIfNeeded()
        var before = AnswersBefore(owner: messaging.owner)
        cache { store in
            before.threads = Set(try store.threads().map(\.id))
            if let id { before.runs = try store.runIDs(of: id) }
        }
        return before
    }

    /// Takes a page of threads; `isFirst` is whether it has those that were used last.
    func keep(_ page: AssistantThreadPage, isFirst: Bool, _ before: AnswersBefore) {
        let erased = messaging.erased
        keepAnswers(for: before.owner) { store in
            try store.save(page, replacing: isFirst ? before.threads : [], except: erased)
        }
    }

    func keep(_ thread: AssistantThread, _ runs: [AssistantRun], _ before: AnswersBefore) {
        let erased = messaging.erased
        guard !erased.contains(thread.id.rawValue) else { return }
        order(runs)
        keepAnswers(for: before.owner) { try $0.save(thread, runs, replacing: before.runs, except: erased) }
    }

    /// Notes in which order runs were asked: they may end in another one.
    func order(_ runs: [AssistantRun]) {
        for (position, run) in runs.enumerated() { messaging.runOrder[run.id] = position }
    }

    func keep(_ run: AssistantRun, for owner: UserID?) {
        guard !messaging.erased.contains(run.thread.rawValue), !messaging.erased.contains(run.id.rawValue) else {
            return
        }
        let position = messaging.runOrder[run.id]
        keepAnswers(for: owner) { try $0.save(run, at: position) }
    }

    /// Removes what is gone for ever. What a response still has of it that was made before is not taken.
    func removeThread(_ id: AssistantThreadID, of owner: UserID?) {
        guard owner == nil || owner == messaging.owner else { return }
        messaging.erased.insert(id.rawValue)
        cache { try $0.remove(id) }
    }

    func removeRun(_ id: AssistantRunID, of owner: UserID?) {
        guard owner == nil || owner == messaging.owner else { return }
        messaging.erased.insert(id.rawValue)
        cache { try $0.remove(id) }
    }

    /// What another user has asked for who was signed in before is not taken.
    private func keepAnswers(for owner: UserID?, _ write: (ConversationStore) throws -> Void) {
        guard owner == nil || owner == messaging.owner else { return }
        cache(write)
        setExpiryTimer()
    }

    func storedThreads() async -> [AssistantThread] {
        await openStoreIfNeeded()
        var threads: [AssistantThread] = []
        cache { threads = try $0.threads() }
        return threads
    }

    func storedThread(_ id: AssistantThreadID) async -> (thread: AssistantThread, runs: [AssistantRun])? {
        await openStoreIfNeeded()
        var stored: (thread: AssistantThread, runs: [AssistantRun])?
        let now = Date()
        cache { stored = try $0.thread(id, at: now) }
        guard var stored else { return nil }
        let removals = PendingRemovals(messaging.queue.entries)
        for index in stored.runs.indices {
            stored.runs[index].withdraw { removals.contain($0.number, in: $0.conversation) }
        }
        return stored
    }
}

extension AssistantRun {
    /// Withdraws the sentences that rest on some messages.
    mutating func withdraw(where isGone: (AnswerSentence.Citation) -> Bool) {
        for index in sentences.indices where sentences[index].citations.contains(where: isGone) {
            sentences[index].withdraw()
        }
    }
}
