import Accounts
import Calls
import Logging
import Model
import Notifications
import Storage
import Synchronization

// From what has happened to a push for each device.
extension PushDispatcher {
    /// The claim of a source is over: somebody else has it.
    private struct ClaimLost: Error {}

    /// Writes the pushes of a source, a page at a time; its end is written with the last.
    func expand(_ source: PushSource) async {
        var expansion = source.topic.isCall ? PushQueue.Expansion.call : .conversation
        do {
            switch source.topic {
            case .conversation(let id): try await expand(source, in: id, as: &expansion)
            case .call(let id): try await expand(source, of: id)
            }
        } catch is ClaimLost {
            // Whoever has it goes on.
        } catch {
            if !Task.isCancelled {
                logger.error("pushes cannot be stored", metadata: ["error": "\(error)"])
            }
            await release(source, until: clock().adding(milliseconds: 1_000))
        }
        let ended = expansion
        state.withLock { $0.queue.expanded(ended) }
        wake()
    }

    private func release(_ source: PushSource, until next: Timestamp) async {
        _ = try? await store.write { try $0.release(source, until: next) }
        state.withLock { $0.queue.notify(due: next) }
    }

    private func expand(
        _ source: PushSource, in conversation: ConversationID, as expansion: inout PushQueue.Expansion
    ) async throws {
        let first = try await page(of: source, in: conversation, after: nil)
        if first.hasMore {
            guard state.withLock({ $0.queue.becomeLarge() }) else {
                // By then some of those that are told are through.
                return await release(source, until: clock().adding(milliseconds: Self.leaseMilliseconds / 2))
            }
            expansion = .largeGroup
            wake()
        }
        try await save(first, of: source, next: source.next)
        var last = first
        while last.hasMore {
            // Others write and are pushed to in between, and large groups have their pages by turns.
            last = try await largeGroups.withSlot {
                try await Task.sleep(for: .seconds(1) * self.limits.page / max(1, self.limits.devicesPerSecond))
                let page = try await self.page(of: source, in: conversation, after: last.candidates.last)
                // A large group is told at intervals of all that came meanwhile.
                let later = self.clock().adding(milliseconds: self.limits.interval.milliseconds)
                try await self.save(page, of: source, next: max(source.next, later))
                return page
            }
        }
    }

    private struct Page: Sendable {
        var candidates: [PushCandidate]
        var hasMore: Bool
    }

    /// A page of a conversation's devices.
    private func page(
        of source: PushSource, in conversation: ConversationID, after last: PushCandidate?
    ) async throws -> Page {
        try await store.read { [limits] store in
            let author = try store.onlyAuthor(in: conversation, after: source.after, upTo: source.upTo)
            let found = try store.pushCandidates(in: conversation, but: author, after: last, limit: limits.page)
            return Page(candidates: found, hasMore: found.count == limits.page)
        }
    }

    /// - Parameter next: when what changes meanwhile is due.
    private func save(_ page: Page, of source: PushSource, next: Timestamp) async throws {
        try await save(page.candidates, of: source, end: page.hasMore ? nil : next) { _ in false }
    }

    private func expand(_ source: PushSource, of id: CallID) async throws {
        let (candidates, notified) = try await store.read { store -> ([PushCandidate], Set<UserID>) in
            guard let call = try store.call(id) else { return ([], []) }
            let notified = call.participants.filter { participant in
                guard !participant.isWithheld else { return false }
                if case .missed = participant.state { return true }
                return participant.isRinging
            }.map(\.user)
            return (try store.pushCandidates(of: call.participants.map(\.user)), Set(notified))
        }
        var rest = candidates[...]
        repeat {
            let page = Array(rest.prefix(limits.page))
            rest = rest.dropFirst(limits.page)
            let end = rest.isEmpty ? source.next : nil
            try await save(page, of: source, end: end) { !notified.contains($0.user) }
        } while !rest.isEmpty
    }

    /// - Parameter end: of the source: when what has changed meanwhile is due; nil if more devices follow.
    private func save(
        _ page: [PushCandidate], of source: PushSource, end: Timestamp?, onlyKnown: (PushCandidate) -> Bool
    ) async throws {
        let now = clock()
        let confirmed = now.adding(milliseconds: limits.confirmation.milliseconds)
        let due = page.map { candidate in
            // What ends a ring does not wait: by then the state would be another one.
            let seemsThere = !onlyKnown(candidate) && candidate.endpoints.contains(where: presence.isConnected)
            let last = state.withLock {
                $0.notified[NotifiedKey(registration: candidate.registration, topic: source.topic)]
            }
            let earliest = last.map { $0.at.adding(milliseconds: limits.interval.milliseconds) } ?? now
            return (
                registration: candidate.registration, at: max(earliest, seemsThere ? confirmed : now),
                onlyKnown: onlyKnown(candidate)
            )
        }
        let progress = end.map(PushSourceProgress.ends)
        let leaseUntil = now.adding(milliseconds: Self.leaseMilliseconds)
        let claim = try await store.write { store in
            try store.savePushes(of: source, due: due, then: progress ?? .continues(until: leaseUntil))
        }.value
        if claim == .lost { throw ClaimLost() }
        let times = due.map(\.at) + (claim == .changed ? [end].compactMap { $0 } : [])
        if let first = times.min() { notify(due: first) }
    }
}
