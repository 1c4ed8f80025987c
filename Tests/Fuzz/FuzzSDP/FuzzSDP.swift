import SDP

/// Any bytes: reading a description or a fragment must not trap, an error must name a line that is there, and what was
/// read must be written so that it is read again as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSDP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count).bytes
    do {
        let description = try SessionDescription(parsing: bytes)
        let again = try? SessionDescription(parsing: description.text)
        if again != description { fatalError("read \(description), and then \(String(describing: again))") }
    } catch {
        if error.line < 1 || error.line > count + 1 { fatalError("no such line: \(error)") }
    }
    if let fragment = try? TrickleFragment(parsing: bytes) {
        if (try? TrickleFragment(parsing: fragment.text)) != fragment { fatalError("\(fragment)") }
    }
    return 0
}
