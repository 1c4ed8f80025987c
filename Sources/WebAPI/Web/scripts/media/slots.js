// What a leg receives: how many slots it offers, and whose track each of them carries.
//
// A slot is a receive-only section of the connection. It lasts as long as the connection; the answer, and the changes
// after it, list the track of every slot.

/** The most slots that a leg may offer. */
const MAX_SLOTS = { audio: 5, video: 25 };

/** How many slots of each kind to offer: one for everybody's microphone and camera, and one for each screen. */
export function slotCounts(participants, me) {
    const others = participants.filter((one) => one.user !== me && isPresentOrInvited(one));
    const screens = others.filter((one) => one.media?.screen).length;
    return {
        audio: Math.min(Math.max(others.length, 1), MAX_SLOTS.audio),
        // One more than there are cameras: a shared screen then needs no new offer.
        video: Math.min(Math.max(others.length, 1) + Math.max(screens, 1), MAX_SLOTS.video),
    };
}

const isPresentOrInvited = ({ state }) => ["invited", "ringing", "joined"].includes(state);

/** The slots of one leg, and their tracks. */
export class Slots {
    #slots = [];

    /** Updates the slots from a list. Slots that are not in it keep their tracks: it may be older than they are. */
    update(slots) {
        const named = new Set(slots.map((slot) => slot.mid));
        this.#slots = [...this.#slots.filter((slot) => !named.has(slot.mid)), ...slots];
    }

    /** The preferred quality of each video slot, by mid, from `qualityFor({user, source})`; `high` for an empty one. */
    preferredQualities(qualityFor) {
        const slots = this.#slots.filter((slot) => slot.kind === "video");
        return Object.fromEntries(slots.map(({ mid, track }) => [mid, track ? qualityFor(track) : "high"]));
    }

    /**
     * The tracks that `connection` receives: `{user, source, kind, receiver, track}`. A slot without a transceiver is
     * one that is not negotiated yet.
     */
    received(connection) {
        const byMid = new Map(connection.getTransceivers().map((one) => [one.mid, one]));
        return this.#slots.flatMap(({ mid, track }) => {
            const receiver = track && byMid.get(mid)?.receiver;
            if (!receiver) return [];
            const { user, source } = track;
            return [{ user, source, kind: receiver.track.kind, receiver, track: receiver.track }];
        });
    }
}
