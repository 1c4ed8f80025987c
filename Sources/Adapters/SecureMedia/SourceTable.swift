/// What a session remembers of each of its sources, by SSRC, up to a bound.
///
/// A session has a few dozen sources and each packet looks for one, mostly the same as the packet before: a row of words
/// is gone through faster than a hash is made. Memory is taken only when a source comes that was not there.
///
/// A source that was given up makes room for another one, but its highest index stays known: should it come back, it goes
/// on behind that, and no packet of before comes out, or serves its nonce, a second time.
struct SourceTable<State> {
    /// Of so many sources that were given up the highest index is kept.
    static var retiredLimit: Int { 1024 }

    let limit: Int
    private var sources: [UInt32] = []
    private var states: [State] = []
    private var latest = 0
    private var retired: [(source: UInt32, highest: UInt64)] = []
    /// Of those the one that was given up first, once there are as many as there may be.
    private var oldestRetired = 0

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    var count: Int { sources.count }
    var isFull: Bool { sources.count >= limit }

    /// Where a source's state is, nil for a source that was not there yet.
    mutating func place(of source: UInt32) -> Int? {
        if latest < sources.count, sources[latest] == source { return latest }
        guard let place = sources.firstIndex(of: source) else { return nil }
        latest = place
        return place
    }

    /// Places come from `place(of:)` and `add`, right before.
    subscript(place: Int) -> State {
        _read { yield states[place] }
        _modify { yield &states[place] }
    }

    /// Adds a source that was not there; the table must not be full.
    mutating func add(_ source: UInt32, _ state: State) {
        latest = sources.count
        sources.append(source)
        states.append(state)
    }

    /// Gives a source up, whose highest index `index` knows.
    mutating func retire(_ source: UInt32, _ index: (State) -> UInt64) {
        guard let place = sources.firstIndex(of: source) else { return }
        let highest = index(states[place])
        sources.remove(at: place)
        states.remove(at: place)
        if let known = retired.firstIndex(where: { $0.source == source }) {
            retired[known].highest = highest
        } else if retired.count < Self.retiredLimit {
            retired.append((source, highest))
        } else {
            retired[oldestRetired] = (source, highest)
            oldestRetired = (oldestRetired &+ 1) % Self.retiredLimit
        }
    }

    /// The highest index that a source had when it was given up; nil for one that never was, or too long ago.
    func retired(_ source: UInt32) -> UInt64? {
        retired.first { $0.source == source }?.highest
    }
}
