internal import CLinux

/// The process's heap.
package enum Heap {
    /// Bytes that are allocated and not freed. The resident memory is larger: malloc keeps what was freed for later.
    package static var usedBytes: Int { Int(clamping: clinux_heap_bytes()) }
}
