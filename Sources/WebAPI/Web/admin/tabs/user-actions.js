// What can be done with a user, in the order of the buttons: { label, style, isOffered(user), question(user), run(path) }.
// `run` resolves to what to say. A deleted user has none.

import { request } from "../session.js";
import { pill } from "../widgets.js";

/** Whether a user can sign in. */
export function statePill({ deleted, disabled }) {
    if (deleted) return pill("Deleted", "bad");
    return disabled ? pill("Disabled", "bad") : pill("Active", "good");
}

export const userActions = [
    {
        label: "Sign out everywhere",
        style: "soft",
        isOffered: () => true,
        question: (user) => ({
            title: `Sign ${user.displayName} out everywhere?`, action: "Sign out",
            text: "All sessions end and their connections are closed. Calls that were joined with them end for this user.",
        }),
        async run(path) {
            const { ended } = await request("POST", `${path}/sign-out`);
            return ended === 1 ? "One session was ended" : `${ended} sessions were ended`;
        },
    },
    {
        label: "Disable",
        style: "soft danger-text",
        isOffered: (user) => !user.disabled,
        question: (user) => ({
            title: `Disable ${user.displayName}?`, action: "Disable",
            text: "All sessions and calls of this user end, and nobody can sign in as this user until enabled again.",
        }),
        async run(path) {
            await request("POST", `${path}/disable`);
            return "The user is disabled";
        },
    },
    {
        label: "Enable",
        style: "primary",
        isOffered: (user) => user.disabled,
        async run(path) {
            await request("POST", `${path}/enable`);
            return "The user may sign in again";
        },
    },
    {
        label: "Delete",
        style: "soft danger-text",
        isOffered: () => true,
        question: (user) => ({
            title: `Delete ${user.displayName} for ever?`, action: "Delete",
            text: "All sessions and calls of this user end, and what is stored of the user is erased. That cannot be undone.",
        }),
        async run(path) {
            await request("DELETE", path);
            return "The user is deleted";
        },
    },
];
