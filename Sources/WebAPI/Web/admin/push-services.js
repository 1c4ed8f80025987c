// The services by which devices are pushed to, and what the kinds of their registrations are called.

/** `service`: what can be checked, as it needs no device. */
export const SERVICES = [
    { title: "Browsers", by: "Web Push", kinds: ["web"], setting: "push.web.enabled" },
    { title: "Android", by: "Firebase Cloud Messaging", kinds: ["fcm"], service: "fcm", setting: "push.fcm.credentials" },
    { title: "iOS", by: "Apple’s push service", kinds: ["apns", "apnsVoIP"], service: "apns", setting: "push.apns.key" },
];

const NAMES = { web: "Web Push", fcm: "FCM", apns: "APNs", apnsVoIP: "APNs, calls" };

export const kindName = (kind) => NAMES[kind] ?? kind;
