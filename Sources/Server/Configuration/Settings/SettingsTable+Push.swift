extension SettingsTable {
    /// What sleeping devices are told by.
    struct Push: Sendable {
        let web = Web()
        let fcm = FCM()
        let apns = APNs()
        let allow = Setting<[String]>(
            "push.allow", default: [],
            "Ranges of private addresses that push services may have nevertheless, also without TLS, such as "
                + "10.0.0.0/8."
        )
        let authorities = Setting(
            "push.authorities", default: "",
            "PEM file of certificate authorities to trust beside the system's, for a proxy before the services "
                + "of push.fcm and push.apns."
        ).file

        /// Android.
        struct FCM: Sendable {
            let credentials = Setting(
                "push.fcm.credentials", default: "",
                "JSON file of a service account of your app's Firebase project, with which Android devices get "
                    + "pushes by Firebase Cloud Messaging; empty: they get none."
            ).file
            let url = Setting(
                "push.fcm.url", default: "https://fcm.googleapis.com",
                "Address of Firebase Cloud Messaging, or of a proxy for it that speaks HTTP/2: an https:// URL.")
        }

        /// iOS.
        struct APNs: Sendable {
            let key = Setting(
                "push.apns.key", default: "",
                "The .p8 file of a key of Apple's developer site, with which Apple's devices get pushes by "
                    + "Apple's push service; empty: they get none."
            ).file
            let keyID = Setting("push.apns.keyID", default: "", "The ID of that key, ten characters.")
            let team = Setting("push.apns.team", default: "", "The ID of your team, ten characters.")
            let topic = Setting(
                "push.apns.topic", default: "", "The bundle ID of your app, such as org.example.app, without .voip.")
            let url = Setting(
                "push.apns.url", default: "https://api.push.apple.com",
                "Address of Apple's push service, or of a proxy for it that speaks HTTP/2: an https:// URL.")
            let sandboxURL = Setting(
                "push.apns.sandboxURL", default: "https://api.sandbox.push.apple.com",
                "The same for the sandbox, for builds from Xcode.")
        }

        /// Browsers.
        struct Web: Sendable {
            let enabled = Setting(
                "push.web.enabled", default: true,
                "Whether browsers get pushes of messages and calls when the app is closed, by the push "
                    + "services of their makers. Pushes are encrypted for the browser.")
            let contact = Setting(
                "push.web.contact", default: "",
                "How push services reach you if pushes cause trouble: mailto:you@example.org or an https:// "
                    + "URL. Some refuse pushes without one.")
            let checkURL = Setting(
                "push.web.checkURL", default: "",
                "Address at which `switchboard check` subscribes as a browser does and sends a push to itself, "
                    + "by Mozilla's protocol: wss://push.services.mozilla.com/, which then sees this machine's "
                    + "address; empty: browsers are not tried."
            )
        }
    }
}
