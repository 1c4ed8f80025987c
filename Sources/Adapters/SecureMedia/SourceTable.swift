/// What a session remembers of each of its sources, by SSRC, up to a bound.
///
/// A session has a few dozen sources and each packet looks for one, mostly the same as the packet before: a row of words
/// is gone through faster than a hash is made. Memory is taken only when a source comes that was not there.
struct SourceTable<State> {
    let limit: Int
    private var sources: [UInt32] = []
    private var states: [State] = []
    private var latest = 0

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

    mutating func remove(_ source: UInt32) {
        guard let place = sources.firstIndex(of: source) else { return }
        sources.remove(at: place)
        states.remove(at: place)
    }
}
