import Accounts
import Model

/// Lines of a log of any bytes: who is read from one as deleted stands in it, and what names an account is read as the
/// same account again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDeletionRecord(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    if let user = DeletionRecord.user(in: text) {
        if !text.lowercased().contains(user.text) && !text.contains("\\u") {
            fatalError("a user who is not in the line")
        }
        if !DeletionRecord.actions.contains(where: { text.contains($0) }) { fatalError("no deletion") }
    }
    if let reference = try? AccountReference(text), case .email(let email) = reference {
        if (try? AccountReference(email)) != reference { fatalError("another account") }
    }
    return 0
}
