import Model
import Transfer

/// Lines of any bytes: one that is read is written as a line from which the same is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTransfer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let line = try? TransferReader.read(Array(UnsafeBufferPointer(start: start, count: count))) else { return 0 }
    let written = line.record.json(source: line.source)
    guard let again = try? TransferReader.read(written) else { fatalError("what was written is not read") }
    if again != line { fatalError("another record") }
    return 0
}
