/// A queue in which each source has its turn: one element of one, then one of the next, each source's own in their order.
///
/// Whoever queues a thousand elements delays the others by one at a time. Appending and taking take constant time; how many
/// elements there may be is up to who appends.
package struct FairQueue<Element: Sendable>: Sendable {
    private var waiting: [IPAddress: Line<Element>] = [:]
    /// The sources that have elements, in the order of their turns.
    private var turns = Line<IPAddress>()
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ element: Element, of address: IPAddress) {
        let source = address.sourcePrefix
        if waiting[source] == nil { turns.append(source) }
        waiting[source, default: Line()].append(element)
        count &+= 1
    }

    package mutating func popFirst() -> Element? {
        guard let source = turns.popFirst(), let element = waiting[source]?.popFirst() else { return nil }
        count &-= 1
        if waiting[source]?.isEmpty == false { turns.append(source) } else { waiting[source] = nil }
        return element
    }
}

/// First in, first out. What was taken is given back in one piece when it is the larger part.
private struct Line<Element: Sendable>: Sendable {
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
