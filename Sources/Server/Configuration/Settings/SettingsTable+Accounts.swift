import Accounts

extension SettingsTable {
    /// Sign-up and outside identities.
    struct Accounts: Sendable {
        let signUp = Setting<SignUpPolicy>(
            "accounts.signUp", default: .open, oneOf: [.open, .invite, .closed],
            "Who may sign up: anybody, holders of an invite (`switchboard account invite`), or nobody.")
        let issuers = Setting<[[String: String]]>(
            "accounts.issuers", default: [], fields: ["issuer", "audience", "jwksURL"],
            "Outside OpenID Connect issuers whose tokens are accepted, each with issuer, audience and jwksURL.")
        let signUpsPerHour = Setting<Int>(
            "accounts.signUpsPerHour", default: 60, in: 1...1_000_000,
            "Sign-ups for each address and hour."
        ).live
    }
}
