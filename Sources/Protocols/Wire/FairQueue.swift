/// A round-robin queue: one element of each source in turn, each source's own in FIFO order.
///
/// A source that queues a thousand elements delays the others by one at a time. Appending and removing take constant
/// time; the caller bounds the number of elements.
package struct FairQueue<Element: Sendable>: Sendable {
    private var waiting: [IPAddress: FIFO<Element>] = [:]
    /// The sources that have elements, in round-robin order.
    private var turns = FIFO<IPAddress>()
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ element: Element, of address: IPAddress) {
        let source = address.sourcePrefix
        if waiting[source] == nil { turns.append(source) }
        waiting[source, default: FIFO()].append(element)
        count &+= 1
    }

    package mutating func popFirst() -> Element? {
        guard let source = turns.popFirst(), let element = waiting[source]?.popFirst() else { return nil }
        count &-= 1
        if waiting[source]?.isEmpty == false { turns.append(source) } else { waiting[source] = nil }
        return element
    }
}

/// First in, first out. Removed elements are freed together, once they are half of the array.
private struct FIFO<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var first = 0

    var isEmpty: Bool { first >= elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first]
        elements[first] = nil
        first &+= 1
        if first &* 2 >= elements.count {
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}
