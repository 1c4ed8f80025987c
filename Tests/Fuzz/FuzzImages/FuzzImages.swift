import Containers
import Wire

/// Any bytes as a photo. What is taken is no larger than it was but for an orientation, is within the bounds, holds
/// nothing that names its sender, and is taken again as it is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzImages(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let file = Array(UnsafeBufferPointer(start: start, count: count))
    guard let image = try? ImageFile.read(file.span.bytes, limit: 2048) else { return 0 }
    guard (1...2048).contains(image.width), (1...2048).contains(image.height) else { fatalError("it is too large") }
    if image.bytes.count > file.count + 64 { fatalError("it has grown") }
    guard let again = try? ImageFile.read(image.bytes.span.bytes, limit: 2048) else {
        fatalError("it is not taken again")
    }
    if again != image { fatalError("it is taken as another") }
    return 0
}
