import Foundation
import Notifications
import Webhooks
import Wire

/// URLs and secrets of webhooks of any bytes: a URL that was read is http or https with a plain host, and reads as itself;
/// one that the rules allow is no written-out private address, and is encrypted unless it is within the allowed ranges; a
/// secret has 24 to 64 bytes and reads as itself. Likewise registrations for pushes: what was read has keys of their lengths, and
/// is sealed and read as itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebhook(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let text = String(decoding: bytes, as: UTF8.self)
    for url in [text, "https://" + text, "http://[" + text + "]/"] { checkURL(url) }
    checkSecret(text)
    checkSecret("whsec_" + text)
    if let secret = WebhookSecret(bytes: bytes), WebhookSecret(secret.text) != secret { fatalError("another secret") }
    checkRegistration(bytes)
    return 0
}

private func checkRegistration(_ bytes: [UInt8]) {
    if let address = PushAddress(bytes, of: .web), let again = try? address.bytes,
        PushAddress(again, of: .web) != address
    {
        fatalError("another address")
    }
    guard let request = try? JSONDecoder().decode(PushRegistrationRequest.self, from: Data(bytes)),
        let address = try? request.address(allowing: WebhookAddressRules())
    else { return }
    let isValid =
        switch address {
        case .web(let web):
            web.publicKey.count == 65 && web.publicKey.first == 4 && web.authSecret.count == 16
                && web.endpoint.isEncrypted
        case .apns(let apns): !apns.token.isEmpty && apns.token.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        case .fcm(let token): !token.isEmpty && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        }
    if !isValid { fatalError("an address that cannot be") }
    if (try? PushAddress(address.bytes, of: address.kind)) != address { fatalError("it reads as another one") }
}

private let private10 = WebhookAddressRules(allowed: [AddressRange("10.0.0.0/8")].compactMap(\.self))

private func checkURL(_ text: String) {
    if let url = WebhookURL(text) {
        if url.text.hasPrefix("https://") != url.isEncrypted { fatalError("another scheme") }
        if !url.isEncrypted, !url.text.hasPrefix("http://") { fatalError("no scheme") }
        if url.host.isEmpty || !(1...65_535).contains(url.port) { fatalError("no host or port") }
        if url.host.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || "/@#?%".utf8.contains($0) }) {
            fatalError("a byte of the host")
        }
        if url.text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) { fatalError("a byte of the URL") }
        if WebhookURL(url.text) != url { fatalError("it reads as another one") }
    }
    for rules in [WebhookAddressRules(), private10] {
        guard let url = try? WebhookURL(text, allowing: rules) else { continue }
        if WebhookURL(text) != url { fatalError("the rules change it") }
        if !url.isEncrypted, rules.allowed.isEmpty { fatalError("plain HTTP") }
        if let address = IPAddress(url.host), !rules.permits(address, isEncrypted: url.isEncrypted) {
            fatalError("an address that is not allowed")
        }
    }
}

private func checkSecret(_ text: String) {
    guard let secret = WebhookSecret(text) else { return }
    if !(24...64).contains(secret.bytes.count) || WebhookSecret(secret.text) != secret { fatalError("another secret") }
}
