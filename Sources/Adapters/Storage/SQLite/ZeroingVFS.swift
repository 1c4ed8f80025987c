internal import Foundation
internal import GRDBSQLite

/// SQLite's default file system (VFS), except that it zeroes the unallocated space of b-tree pages that are written to a
/// database file, so that nothing deleted is left there.
///
/// With write-ahead logging only checkpoints write to that file. The log itself, whose frames have checksums, and
/// journals are written as they are: a truncating checkpoint empties the log. The page cache of a connection still has
/// the old bytes, and logs them again with the next change of such a page: whoever wants them gone releases it after the
/// checkpoint, as `SQLiteDatabase.checkpoint` does.
///
/// The tables of functions are copies of the default's with a few functions replaced, and its files are opened in place:
/// it gets its own pointers, and all else is its own. The functions here run inside SQLite, so they cannot trap, and
/// allocate one page per file.
enum ZeroingVFS {
    static let name: StaticString = "switchboard"

    /// Beyond so many pages nothing is zeroed: the number that an overflow page begins with could look like the type of
    /// a b-tree page from 2^25 pages on. Half of that leaves room for what is not yet in the file. With 4 KiB a page
    /// these are 64 GiB.
    static let maximumPages: Int64 = 1 << 24

    /// What follows a database file of the default VFS in memory.
    private struct State {
        /// The functions of this file. Must stay first.
        var methods: sqlite3_io_methods
        /// Those of the default VFS, for as long as the file is open.
        let defaults: UnsafePointer<sqlite3_io_methods>
        /// The largest size in bytes that SQLite has announced for the file.
        var announced: Int64 = 0
        /// The copy of a page whose unused bytes are zeroed, and its size.
        var copy: UnsafeMutableRawPointer?
        var copySize = 0
    }

    nonisolated(unsafe) private static let base: UnsafeMutablePointer<sqlite3_vfs>? = sqlite3_vfs_find(nil)

    /// Where `State` begins in the memory of a file.
    private static let stateOffset: Int = {
        let alignment = MemoryLayout<State>.alignment
        return (Int(base?.pointee.szOsFile ?? 0) &+ alignment &- 1) / alignment &* alignment
    }()

    /// Makes it the default for all files that this process opens from now on. Throws an `SQLError` if SQLite refuses.
    static func register() throws {
        guard registration == SQLITE_OK else {
            throw SQLError(.failed, "SQLite's file system cannot be replaced (SQLite error \(registration)).")
        }
    }

    private static let registration: CInt = {
        guard let base else { return SQLITE_ERROR }
        // SQLite keeps it until the process ends.
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: base.pointee)
        vfs.pointee.zName = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        vfs.pointee.szOsFile = CInt(clamping: stateOffset &+ MemoryLayout<State>.size)
        vfs.pointee.pNext = nil
        vfs.pointee.xOpen = { _, path, file, flags, granted in
            ZeroingVFS.open(path, file, flags, granted)
        }
        return sqlite3_vfs_register(vfs, 1)
    }()

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: CInt,
        _ granted: UnsafeMutablePointer<CInt>?
    ) -> CInt {
        guard let base, let file, let open = base.pointee.xOpen else { return SQLITE_CANTOPEN }
        let result = open(base, path, file, flags, granted)
        guard result == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let defaults = file.pointee.pMethods else {
            return result
        }
        var methods = defaults.pointee
        methods.xWrite = { file, bytes, count, offset in ZeroingVFS.write(file, bytes, count, offset) }
        methods.xFileControl = { file, operation, argument in ZeroingVFS.control(file, operation, argument) }
        methods.xClose = { file in ZeroingVFS.close(file) }
        let memory = UnsafeMutableRawPointer(file) + stateOffset
        memory.initializeMemory(as: State.self, repeating: State(methods: methods, defaults: defaults), count: 1)
        file.pointee.pMethods = UnsafePointer(memory.assumingMemoryBound(to: sqlite3_io_methods.self))
        return result
    }

    private static func state(of file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<State> {
        (UnsafeMutableRawPointer(file) + stateOffset).assumingMemoryBound(to: State.self)
    }

    private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> CInt {
        guard let file else { return SQLITE_MISUSE }
        let state = state(of: file)
        free(state.pointee.copy)
        state.pointee.copy = nil
        return state.pointee.defaults.pointee.xClose?(file) ?? SQLITE_IOERR
    }

    private static func control(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ operation: CInt, _ argument: UnsafeMutableRawPointer?
    ) -> CInt {
        guard let file else { return SQLITE_MISUSE }
        let state = state(of: file)
        if operation == SQLITE_FCNTL_SIZE_HINT, let size = argument?.loadUnaligned(as: Int64.self) {
            state.pointee.announced = max(state.pointee.announced, size)
        }
        return state.pointee.defaults.pointee.xFileControl?(file, operation, argument) ?? SQLITE_NOTFOUND
    }

    private static func write(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: CInt, _ offset: Int64
    ) -> CInt {
        guard let file, let bytes, count > 0 else { return SQLITE_MISUSE }
        let state = state(of: file)
        guard let write = state.pointee.defaults.pointee.xWrite else { return SQLITE_IOERR }
        // SQLite writes whole pages to database files, and nothing else.
        let page = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        guard offset >= 0, UnallocatedSpace.pageSizes.contains(page.count), offset % Int64(page.count) == 0,
            let range = UnallocatedSpace.range(in: page, isFirst: offset == 0), !isZero(page, range),
            isSmall(file, state, pageSize: page.count)
        else { return write(file, bytes, count, offset) }
        guard let copy = copy(state, size: page.count) else { return SQLITE_NOMEM }
        memcpy(copy, bytes, page.count)
        memset(copy + range.lowerBound, 0, range.count)
        return write(file, copy, count, offset)
    }

    private static func isZero(_ page: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard let start = page.baseAddress, !range.isEmpty else { return true }
        let first = start + range.lowerBound
        // All bytes equal their successors.
        return first.loadUnaligned(as: UInt8.self) == 0 && memcmp(first, first + 1, range.count &- 1) == 0
    }

    /// Whether the database that is being written has at most `maximumPages`.
    private static func isSmall(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ state: UnsafeMutablePointer<State>, pageSize: Int
    ) -> Bool {
        var size: Int64 = 0
        guard state.pointee.defaults.pointee.xFileSize?(file, &size) == SQLITE_OK else { return false }
        return max(size, state.pointee.announced) / Int64(pageSize) <= maximumPages
    }

    private static func copy(_ state: UnsafeMutablePointer<State>, size: Int) -> UnsafeMutableRawPointer? {
        if state.pointee.copySize != size {
            free(state.pointee.copy)
            state.pointee.copy = malloc(size)
            state.pointee.copySize = state.pointee.copy == nil ? 0 : size
        }
        return state.pointee.copy
    }
}
