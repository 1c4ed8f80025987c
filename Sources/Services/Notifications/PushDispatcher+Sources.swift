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

    /// Writes the pushes of a source, a page at a time.
    func expand(_ source: PushSource) async {
        do {
            var count = 0
            switch source.topic {
            case .conversation(let id): count = try await expand(source, in: id)
            case .call(let id): try await expand(source, of: id)
            }
            // A large group is told at intervals of all that came meanwhile.
            let delay = count > limits.page ? limits.interval.milliseconds : 0
            let next = clock().adding(milliseconds: delay)
            _ = try await store.write { try $0.finish(source, next: next) }
        } catch is ClaimLost {
            // Whoever has it goes on.
        } catch {
            if !Task.isCancelled {
                logger.error("pushes cannot be stored", metadata: ["error": "\(error)"])
            }
            let next = clock().adding(milliseconds: 1_000)
            _ = try? await store.write { try $0.release(source, until: next) }
        }
        state.withLock { $0.queue.expanded(isCall: source.topic.isCall) }
        wake()
    }

    private func expand(_ source: PushSource, in conversation: ConversationID) async throws -> Int {
        let first = try await expand(source, in: conversation, after: nil)
        guard first.count == limits.page else { return first.count }
        return try await largeGroups.withSlot {
            var (last, count) = (first.last, first.count)
            while !Task.isCancelled {
                let page = try await self.expand(source, in: conversation, after: last)
                count += page.count
                guard page.count == self.limits.page else { break }
                last = page.last
                // Others write in between.
                try await Task.sleep(for: .seconds(1) * page.count / max(1, self.limits.devicesPerSecond))
            }
            return count
        }
    }

    private func expand(
        _ source: PushSource, in conversation: ConversationID, after last: PushCandidate?
    ) async throws -> [PushCandidate] {
        let page = try await store.read { [limits] store in
            let author = try store.onlyAuthor(in: conversation, after: source.after, upTo: source.upTo)
            return try store.pushCandidates(in: conversation, but: author, after: last, limit: limits.page)
        }
        if !page.isEmpty { try await save(page, of: source) { _ in false } }
        return page
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
        while !rest.isEmpty {
            try await save(Array(rest.prefix(limits.page)), of: source) { !notified.contains($0.user) }
            rest = rest.dropFirst(limits.page)
        }
    }

    private func save(
        _ page: [PushCandidate], of source: PushSource, onlyKnown: (PushCandidate) -> Bool
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
            return (candidate.registration, max(earliest, seemsThere ? confirmed : now), onlyKnown(candidate))
        }
        let leaseUntil = now.adding(milliseconds: Self.leaseMilliseconds)
        let isCurrent = try await store.write { store in
            try store.savePushes(
                of: source, due: due.map { (registration: $0.0, at: $0.1, onlyKnown: $0.2) }, until: leaseUntil)
        }.value
        guard isCurrent else { throw ClaimLost() }
    }
}
