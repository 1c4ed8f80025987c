import Foundation
import MediaFiles
import Model
import TestSupport
import Testing

@Suite struct MediaFilesTests {
    let directory: String
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    init() throws { directory = try ScratchDirectory().file("media") }

    private func file() -> FileID { .make(at: Timestamp(milliseconds: 1_800_000_000_000)) }

    private func read(_ file: StoredFile, _ range: Range<Int>) async throws -> [[UInt8]] {
        var chunks: [[UInt8]] = []
        try await file.read(range) { chunks.append($0) }
        return chunks
    }

    @Test func whatIsWrittenIsRead() async throws {
        let files = try MediaFiles(path: directory)
        let (name, empty) = (file(), file())
        try await files.write(bytes, as: name)
        try await files.write([], as: empty)
        let stored = try await files.open(name)
        #expect(stored.byteCount == bytes.count)
        let chunks = try await read(stored, 0..<bytes.count)
        #expect(chunks.count > 1)
        #expect(Array(chunks.joined()) == bytes)
        #expect(try await Array(read(stored, 70_000..<70_007).joined()) == Array(bytes[70_000..<70_007]))
        #expect(try await read(files.open(empty), 0..<0).isEmpty)
        // Only its owner may look, and nothing unfinished is left.
        #expect(try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int == 0o700)
        #expect(
            try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")[.posixPermissions] as? Int == 0o600
        )
        #expect(try await Set(files.all()) == [name, empty])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 2)
    }

    @Test func aRemovedFileIsGoneForThoseWhoComeLater() async throws {
        let files = try MediaFiles(path: directory)
        let name = file()
        try await files.write(bytes, as: name)
        let stored = try await files.open(name)
        try await files.remove(name)
        try await files.remove(name)
        #expect(try await Array(read(stored, 0..<bytes.count).joined()) == bytes)
        let error = await #expect(throws: MediaFileError.self) { _ = try await files.open(name) }
        #expect(error?.kind == .missing)
    }

    @Test func aStartSweepsWhatACrashLeft() async throws {
        let name = file()
        try await MediaFiles(path: directory).write(bytes, as: name)
        try Data([1, 2, 3]).write(to: URL(filePath: "\(directory)/\(file()).part"))
        #expect(try await MediaFiles(path: directory).all() == [name])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [name.text])
    }

    @Test func aRecordingGrowsUnderItsOwnName() async throws {
        let files = try MediaFiles(path: directory)
        let name = file()
        let growing = try await files.append(to: name)
        try await growing.append(Array(bytes[..<1_000]))
        #expect(try await files.open(name).byteCount == 1_000)
        try await growing.append(Array(bytes[1_000...]))
        try await growing.sync()
        #expect(try await Array(read(files.open(name), 0..<bytes.count).joined()) == bytes)
        // Nobody else takes its name.
        await #expect(throws: MediaFileError.self) { _ = try await files.append(to: name) }
    }

    @Test func aDirectoryThatIsGoneIsSaid() async throws {
        let files = try MediaFiles(path: directory)
        try FileManager.default.removeItem(atPath: directory)
        let error = await #expect(throws: MediaFileError.self) { try await files.write([1], as: file()) }
        #expect(error?.kind == .unwritable)
        #expect(error?.problem.kind == .unavailable)
        #expect(error?.description.contains(directory) == true)
        #expect(throws: MediaFileError.self) { _ = try MediaFiles(path: directory + "/not/there") }
    }

    /// /dev/full takes nothing, as a full disk.
    @Test func aFullDiskIsSaid() async throws {
        let files = try MediaFiles(path: directory)
        let name = file()
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory)/\(name).part", withDestinationPath: "/dev/full")
        let error = await #expect(throws: MediaFileError.self) { try await files.write(bytes, as: name) }
        #expect(error?.kind == .full && error?.problem.kind == .storageFull)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }

    /// What an operator keeps free is kept free, also of files that were begun before.
    @Test func soMuchStaysFree() async throws {
        let files = try MediaFiles(path: directory, minFreeBytes: 1)
        try await files.checkFreeSpace()
        let (name, other) = (file(), file())
        try await files.write(bytes, as: name)
        let growing = try await files.append(to: other)
        try await growing.append([1])
        let full = try MediaFiles(path: directory, minFreeBytes: .max)
        let refused = await #expect(throws: MediaFileError.self) { try await full.checkFreeSpace() }
        #expect(refused?.kind == .full && refused?.description.contains("media.minFreeBytes") == true)
        #expect(refused?.problem.detail.contains(directory) == false)
        let third = file()
        #expect(await #expect(throws: MediaFileError.self) { try await full.write(bytes, as: third) }?.kind == .full)
        #expect(await #expect(throws: MediaFileError.self) { _ = try await full.append(to: third) }?.kind == .full)
        #expect(throws: MediaFileError.self) { _ = try full.appendBlocking(to: third) }
        #expect(try await Set(full.all()) == [name, other], "nothing is left of what was refused")
        #expect(try await full.open(name).byteCount == bytes.count, "what is there can be read")
        try await full.remove(name)
    }

    @Test func threadsThatMayBlockReadAndAppend() throws {
        let files = try MediaFiles(path: directory)
        let name = file()
        let growing = try files.appendBlocking(to: name)
        for start in stride(from: 0, to: bytes.count, by: 70_000) {
            try growing.appendBlocking(Array(bytes[start..<min(start + 70_000, bytes.count)]))
        }
        try growing.syncBlocking()
        #expect(throws: MediaFileError.self) { _ = try files.appendBlocking(to: name) }
        let stored = try files.openBlocking(name)
        #expect(try stored.readBlocking(from: 199_990, count: 100) == Array(bytes[199_990...]))
        #expect(try stored.readBlocking(from: 200_000, count: 100).isEmpty)
        #expect(try stored.readBlocking(from: 7, count: 3) == Array(bytes[7..<10]))
    }

    @Test func whatIsRemovedDuringACopyIsInIt() async throws {
        let target = directory + "-copy"
        let files = try MediaFiles(path: directory)
        let (kept, gone, missing) = (file(), file(), file())
        try await files.write(bytes, as: kept)
        try await files.write([1, 2, 3], as: gone)
        let hold = files.holdRemovals()
        try await files.remove(gone)
        #expect(try await Set(files.all()) == [kept, gone])
        try files.prepareCopy(at: target)
        var copied = try await files.copy([kept, gone, missing], to: target)
        #expect(copied.count == 2 && copied.missing == 1)
        hold.release()
        #expect(try await files.all() == [kept])
        let copy = MediaFiles(reading: target)
        #expect(try await copy.open(gone).byteCount == 3)
        #expect(try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o700)
        copied += copied
        #expect(copied.count == 4)
    }
}
