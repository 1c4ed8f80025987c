internal import Providers

/// Which directions have a pipeline: two at a time, for each is ten or twenty programs of up to half a gigabyte together.
///
/// Who needs a third waits until one is unused, which then ends; the one that was used longest ago.
struct SlotTable: Sendable {
    struct Slot: Hashable, Sendable {
        var mode: String?
        var isUsed = false
        /// Larger: later.
        var lastUse = 0
    }

    struct Lease: Hashable, Sendable {
        var index: Int
        /// Its pipeline has to end first.
        var replaced: String?
    }

    private(set) var slots: [Slot]
    private var uses = 0

    init(count: Int) { slots = Array(repeating: Slot(), count: count) }

    /// Nil if somebody uses the mode's own slot, or all.
    mutating func take(_ mode: String) -> Lease? {
        let own = slots.firstIndex { $0.mode == mode }
        if let own, slots[own].isUsed { return nil }
        let unused = slots.indices.filter { !slots[$0].isUsed }
        guard let index = own ?? unused.min(by: { slots[$0].lastUse < slots[$1].lastUse }) else { return nil }
        uses += 1
        let replaced = slots[index].mode == mode ? nil : slots[index].mode
        slots[index] = Slot(mode: mode, isUsed: true, lastUse: uses)
        return Lease(index: index, replaced: replaced)
    }

    mutating func release(_ lease: Lease) {
        slots[lease.index].isUsed = false
    }
}

/// Hands out the slots in the order in which they are asked for, as far as they are free.
actor PipelineSlots {
    private struct Waiting {
        var id: Int
        var mode: String
        var continuation: CheckedContinuation<SlotTable.Lease?, Never>
    }

    private var table: SlotTable
    private var waiting: [Waiting] = []
    private var ids = 0

    init(count: Int) { table = SlotTable(count: count) }

    func acquire(_ mode: String) async throws(ProviderFailure) -> SlotTable.Lease {
        if Task.isCancelled { throw .cancelled }
        if !waiting.contains(where: { $0.mode == mode }), let lease = table.take(mode) { return lease }
        ids += 1
        let id = ids
        let lease = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.append(Waiting(id: id, mode: mode, continuation: continuation))
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
        guard let lease else { throw .cancelled }
        return lease
    }

    func release(_ lease: SlotTable.Lease) {
        table.release(lease)
        var index = 0
        while index < waiting.count {
            guard let lease = table.take(waiting[index].mode) else {
                index += 1
                continue
            }
            waiting.remove(at: index).continuation.resume(returning: lease)
        }
    }

    private func cancel(_ id: Int) {
        // It may have a lease already, which it then releases.
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).continuation.resume(returning: nil)
    }
}
