/// A bounded cache that evicts entries that were not used recently.
///
/// It has two generations: when the young one is full it becomes the old one, and the old one is dropped; entries that
/// are used move to the young one. So every operation is constant time without any ordering, and there are at most
/// `capacity` entries.
package struct RecentMap<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let generation: Int

    package init(capacity: Int) { generation = max(1, capacity / 2) }

    package var count: Int { young.count + old.count { young[$0.key] == nil } }

    package subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old.removeValue(forKey: key) else { return nil }
            insert(value, for: key)
            return value
        }
        set {
            old.removeValue(forKey: key)
            if let newValue { insert(newValue, for: key) } else { young.removeValue(forKey: key) }
        }
    }

    package mutating func removeAll(where isUnwanted: (Key, Value) -> Bool) {
        young = young.filter { !isUnwanted($0.key, $0.value) }
        old = old.filter { !isUnwanted($0.key, $0.value) }
    }

    /// Removes the entries that were not used since the last call.
    package mutating func age() {
        old = young
        young = [:]
    }

    private mutating func insert(_ value: Value, for key: Key) {
        if young[key] == nil, young.count >= generation {
            old = young
            young = [:]
        }
        young[key] = value
    }
}

extension RecentMap: Sendable where Key: Sendable, Value: Sendable {}
