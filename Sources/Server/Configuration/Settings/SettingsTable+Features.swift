extension SettingsTable {
    /// Features that the operator may disable. What exists of one stays. Server keys may do everything.
    struct Features: Sendable {
        let friends = Setting<Bool>(
            "features.friends", default: true,
            "Whether users can become friends. Without it, friends stay friends, and requests can be declined."
        ).live
        let userSearch = Setting<Bool>(
            "features.userSearch", default: true,
            "Whether users can find others by name, e-mail address or id. A user who has somebody's id still "
                + "gets the profile."
        ).live
        let messageSearch = Setting<Bool>(
            "features.messageSearch", default: true,
            "Whether users can search messages. Without it, the index is still kept up to date."
        ).live
        let groups = Setting<Bool>(
            "features.groups", default: true,
            "Whether users can create groups. Without it, existing groups go on, with new members."
        ).live
        let inviteLinks = Setting<Bool>(
            "features.inviteLinks", default: true,
            "Whether users can make and use links of themselves and of groups. Without it, links can be listed "
                + "and removed, and work again with it."
        ).live
    }
}
