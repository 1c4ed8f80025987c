/// The state of each source of a session, by SSRC, up to a limit.
///
/// A session has a few dozen sources and each packet looks one up, mostly the same as the previous packet: a linear
/// search is faster than hashing. Memory is allocated only for new sources.
///
/// A retired source frees its entry, but its highest index is kept: if it returns, it continues after that, and no
/// earlier packet is accepted, and no nonce used, a second time.
struct SourceTable<State> {
    /// The number of retired sources whose highest index is kept.
    static var retiredLimit: Int { 1024 }

    let limit: Int
    private var sources: [UInt32] = []
    private var states: [State] = []
    private var latest = 0
    private var retired: [(source: UInt32, highest: UInt64)] = []
    /// The entry to overwrite next, once `retired` is full.
    private var oldestRetired = 0

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    var count: Int { sources.count }
    var isFull: Bool { sources.count >= limit }

    /// The index of a source; nil for a new one.
    mutating func index(of source: UInt32) -> Int? {
        if latest < sources.count, sources[latest] == source { return latest }
        guard let index = sources.firstIndex(of: source) else { return nil }
        latest = index
        return index
    }

    /// Indices are valid only until the next `add` or `retire`.
    subscript(index: Int) -> State {
        _read { yield states[index] }
        _modify { yield &states[index] }
    }

    /// Adds a new source; the table must not be full.
    mutating func add(_ source: UInt32, _ state: State) {
        latest = sources.count
        sources.append(source)
        states.append(state)
    }

    /// Retires a source; `highestIndex` returns its highest index from its state.
    mutating func retire(_ source: UInt32, _ highestIndex: (State) -> UInt64) {
        guard let index = sources.firstIndex(of: source) else { return }
        let highest = highestIndex(states[index])
        sources.remove(at: index)
        states.remove(at: index)
        if let known = retired.firstIndex(where: { $0.source == source }) {
            retired[known].highest = highest
        } else if retired.count < Self.retiredLimit {
            retired.append((source, highest))
        } else {
            retired[oldestRetired] = (source, highest)
            oldestRetired = (oldestRetired &+ 1) % Self.retiredLimit
        }
    }

    /// The highest index of a retired source; nil if it was never retired, or too long ago.
    func retired(_ source: UInt32) -> UInt64? {
        retired.first { $0.source == source }?.highest
    }
}
