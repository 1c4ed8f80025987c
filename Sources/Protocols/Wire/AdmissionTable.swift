/// Admits entries to a bounded table: connections, sessions, handshakes in progress.
///
/// An entry belongs to a source, an IPv4 address or an IPv6 /64, and no source has more than its share, so that one
/// host cannot keep all others out. A new entry is pending until its client has authenticated (by a password, a token,
/// a completed handshake): pending entries are in the order of arrival, overall and for each source, so that the oldest
/// one can be evicted or time out. Every operation takes constant time, however many entries there are.
///
/// An entry whose source is unknown, behind a proxy that has not named it yet, counts in the total only; a trusted
/// client has no source either.
///
/// Not synchronized: a host that uses it from several threads guards it with a lock.
package struct AdmissionTable: Sendable {
    package struct Limits: Hashable, Sendable {
        package var all: Int
        package var perSource: Int
        /// Of pending entries; without limits of their own they are bounded by the two above.
        package var pending: Int
        package var pendingPerSource: Int

        package init(all: Int, perSource: Int? = nil, pending: Int = .max, pendingPerSource: Int = .max) {
            self.all = all
            self.perSource = perSource ?? Self.share(of: all)
            self.pending = pending
            self.pendingPerSource = pendingPerSource
        }

        /// A quarter, so that four hostile hosts are needed where one was enough; of a small table at least 8, which a
        /// single page or a check of the server takes at once.
        package static func share(of limit: Int) -> Int { max(limit / 4, min(limit, 8)) }
    }

    /// Why an entry is rejected. The limits of its source are checked first.
    package enum Rejection: Error, Hashable, Sendable {
        case sourceLimit
        case sourcePendingLimit
        case pendingLimit
        case limit
    }

    /// A handle to an entry, valid until it is released.
    package struct Entry: Hashable, Sendable {
        fileprivate let index: Int
    }

    /// An entry whose client has not authenticated.
    package struct Pending: Hashable, Sendable {
        /// The host's id for it.
        package let owner: UInt64
        package let since: Instant
    }

    private struct Record {
        let owner: UInt64
        var source: IPAddress?
        var since: Instant
        var isUsed = true
        var isPending = false
        /// Its links in the lists of pending entries, of all and of the same source.
        var all = Links()
        var own = Links()
    }

    private struct Links {
        var previous = -1
        var next = -1
    }

    private struct Source {
        var count = 0
        var pending = Chain()
    }

    private struct Chain {
        var first = -1
        var last = -1
        var count = 0
    }

    /// The limits for new entries; lowering them ends no existing ones.
    package var limits: Limits
    private var records: [Record] = []
    private var free: [Int] = []
    private var sources: [IPAddress: Source] = [:]
    private var pending = Chain()

    package init(_ limits: Limits) {
        self.limits = limits
    }

    package var count: Int { records.count &- free.count }
    package var pendingCount: Int { pending.count }
    /// Sources that hold an entry.
    package var sourceCount: Int { sources.count }

    package func count(of address: IPAddress) -> Int { sources[address.sourcePrefix]?.count ?? 0 }

    // MARK: Admission

    /// Why one more entry of this source would be rejected now; nil when it would be admitted.
    package func rejection(of address: IPAddress?) -> Rejection? {
        if let source = address.flatMap({ sources[$0.sourcePrefix] }) {
            if source.count >= limits.perSource { return .sourceLimit }
            if source.pending.count >= limits.pendingPerSource { return .sourcePendingLimit }
        }
        if pending.count >= limits.pending { return .pendingLimit }
        return count >= limits.all ? .limit : nil
    }

    /// Adds a pending entry with the host's id `owner`.
    package mutating func admit(
        _ address: IPAddress?, owner: UInt64, at now: Instant
    ) throws(Rejection) -> Entry {
        if let rejection = rejection(of: address) { throw rejection }
        let record = Record(owner: owner, source: address?.sourcePrefix, since: now)
        let index: Int
        if let reused = free.popLast() {
            index = reused
            records[index] = record
        } else {
            index = records.count
            records.append(record)
        }
        if let source = record.source { sources[source, default: Source()].count &+= 1 }
        append(index)
        return Entry(index: index)
    }

    /// Sets the source of an entry that had none. False when the source has its share already: the entry stays without.
    package mutating func setSource(_ entry: Entry, _ address: IPAddress) -> Bool {
        guard isUsed(entry), records[entry.index].source == nil else { return true }
        let prefix = address.sourcePrefix
        guard sources[prefix]?.count ?? 0 < limits.perSource else { return false }
        let isPending = records[entry.index].isPending
        // Its position in the list of all stays.
        sources[prefix, default: Source()].count &+= 1
        records[entry.index].source = prefix
        if isPending { appendToSource(entry.index, prefix) }
        return true
    }

    /// The entry's client has authenticated.
    package mutating func confirm(_ entry: Entry) {
        guard isUsed(entry), records[entry.index].isPending else { return }
        remove(entry.index)
    }

    package mutating func release(_ entry: Entry) {
        guard isUsed(entry) else { return }
        let index = entry.index
        if records[index].isPending { remove(index) }
        records[index].isUsed = false
        free.append(index)
        guard let source = records[index].source, let count = sources[source]?.count else { return }
        if count > 1 { sources[source]?.count = count &- 1 } else { sources[source] = nil }
    }

    // MARK: Pending entries

    package var oldestPending: Pending? { pending(at: pending.first) }

    package func oldestPending(of address: IPAddress) -> Pending? {
        sources[address.sourcePrefix].flatMap { pending(at: $0.pending.first) }
    }

    /// All of them, the oldest first.
    package var pendingOwners: [UInt64] {
        var owners: [UInt64] = []
        owners.reserveCapacity(pending.count)
        var index = pending.first
        while records.indices.contains(index) {
            owners.append(records[index].owner)
            index = records[index].all.next
        }
        return owners
    }

    /// Nothing was read for so many nanoseconds until now: this time does not count for pending entries.
    package mutating func extendPending(by nanoseconds: UInt64, at now: Instant) {
        var index = pending.first
        while records.indices.contains(index) {
            records[index].since = min(records[index].since.adding(nanoseconds: nanoseconds), now)
            index = records[index].all.next
        }
    }

    private func pending(at index: Int) -> Pending? {
        guard records.indices.contains(index) else { return nil }
        return Pending(owner: records[index].owner, since: records[index].since)
    }

    private func isUsed(_ entry: Entry) -> Bool {
        records.indices.contains(entry.index) && records[entry.index].isUsed
    }

    // MARK: Linked lists

    private mutating func append(_ index: Int) {
        records[index].isPending = true
        records[index].all = Links(previous: pending.last)
        if pending.last >= 0 { records[pending.last].all.next = index } else { pending.first = index }
        pending.last = index
        pending.count &+= 1
        if let source = records[index].source { appendToSource(index, source) }
    }

    private mutating func appendToSource(_ index: Int, _ source: IPAddress) {
        guard var chain = sources[source]?.pending else { return }
        records[index].own = Links(previous: chain.last)
        if chain.last >= 0 { records[chain.last].own.next = index } else { chain.first = index }
        chain.last = index
        chain.count &+= 1
        sources[source]?.pending = chain
    }

    private mutating func remove(_ index: Int) {
        records[index].isPending = false
        let all = records[index].all
        if all.previous >= 0 { records[all.previous].all.next = all.next } else { pending.first = all.next }
        if all.next >= 0 { records[all.next].all.previous = all.previous } else { pending.last = all.previous }
        pending.count &-= 1
        guard let source = records[index].source, var chain = sources[source]?.pending else { return }
        let own = records[index].own
        if own.previous >= 0 { records[own.previous].own.next = own.next } else { chain.first = own.next }
        if own.next >= 0 { records[own.next].own.previous = own.previous } else { chain.last = own.previous }
        chain.count &-= 1
        sources[source]?.pending = chain
    }
}
