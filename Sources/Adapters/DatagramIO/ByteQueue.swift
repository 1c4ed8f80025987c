/// A FIFO of bytes of a connection: appended at the end, removed from the front; it allocates memory only on first use.
package struct ByteQueue: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var start = 0
    private var end = 0
    /// Bytes of memory, 0 for a queue that never held any.
    package private(set) var capacity = 0

    package init() {}

    deinit {
        memory?.deallocate()
    }

    package var count: Int {
        end &- start
    }

    package var isEmpty: Bool {
        end == start
    }

    /// Valid until the queue is changed.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.map { $0 + start }, count: count)
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty, let target = reserve(for: bytes.count) else { return }
        target.copyMemory(from: source, byteCount: bytes.count)
        end &+= bytes.count
    }

    package mutating func append(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { append($0) }
    }

    package mutating func append(zeroes count: Int) {
        guard count > 0, let target = reserve(for: count) else { return }
        target.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        end &+= count
    }

    package mutating func removeFirst(_ count: Int) {
        start = min(start &+ max(0, count), end)
        if isEmpty { removeAll() }
    }

    /// Removes the bytes and keeps the memory.
    package mutating func removeAll() {
        start = 0
        end = 0
    }

    /// Removes the bytes and frees the memory.
    package mutating func release() {
        memory?.deallocate()
        memory = nil
        capacity = 0
        removeAll()
    }

    private mutating func reserve(for count: Int) -> UnsafeMutableRawPointer? {
        if let memory, end <= capacity &- count { return memory + end }
        let held = self.count
        if let memory, held <= capacity / 2, held <= capacity &- count {
            // Moves the remaining bytes to the front.
            memory.copyMemory(from: memory + start, byteCount: held)
        } else {
            let newCapacity = max(held &+ count, capacity &* 2, 512)
            let larger = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
            if let memory {
                larger.copyMemory(from: memory + start, byteCount: held)
                memory.deallocate()
            }
            memory = larger
            capacity = newCapacity
        }
        start = 0
        end = held
        return memory.map { $0 + held }
    }
}

/// A worker's read buffer; its bytes are valid until the next read.
package struct SharedBuffer: ~Copyable {
    package let bytes: UnsafeMutableRawBufferPointer

    package init(byteCount: Int) {
        bytes = .allocate(byteCount: byteCount, alignment: 64)
    }

    deinit {
        bytes.deallocate()
    }
}
