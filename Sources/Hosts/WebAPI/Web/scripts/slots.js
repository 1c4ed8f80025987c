// What a leg receives: how many slots it asks for, and whose track each of them shows.
//
// A slot is a receive-only section of the connection. It stays for as long as the connection does; what it shows is told
// by the answer and by the changes after it, as a list of all slots.

/** What a leg may ask for at most. */
const MOST = { audio: 5, video: 25 };

/** How many slots of each kind a call asks for: one for everybody's voice and camera, and one for each screen. */
export function slotsWanted(participants, me) {
    const others = participants.filter((one) => one.user !== me && isComing(one));
    const screens = others.filter((one) => one.media?.screen).length;
    return {
        audio: Math.min(Math.max(others.length, 1), MOST.audio),
        // One more than there are cameras: somebody's screen comes without another offer.
        video: Math.min(Math.max(others.length, 1) + Math.max(screens, 1), MOST.video),
    };
}

const isComing = ({ state }) => ["invited", "ringing", "joined"].includes(state);

/** The slots of one leg, and the tracks that they show. */
export class Slots {
    #shown = [];

    /** Takes the list of all slots. Sections that it does not name show what they did: it may be older than they are. */
    take(slots) {
        const named = new Set(slots.map((slot) => slot.mid));
        this.#shown = [...this.#shown.filter((slot) => !named.has(slot.mid)), ...slots];
    }

    /** How good a picture is enough in each slot for one, by mid: as `enough({user, source})` says. An empty one waits for the best. */
    enough(enough) {
        const slots = this.#shown.filter((slot) => slot.kind === "video");
        return Object.fromEntries(slots.map(({ mid, track }) => [mid, track ? enough(track) : "high"]));
    }

    /**
     * The tracks as `connection` receives them: `{user, source, kind, receiver, track}`. A slot without a section is one
     * that the connection has not heard of yet.
     */
    received(connection) {
        const byMid = new Map(connection.getTransceivers().map((one) => [one.mid, one]));
        return this.#shown.flatMap(({ mid, track }) => {
            const receiver = track && byMid.get(mid)?.receiver;
            if (!receiver) return [];
            const { user, source } = track;
            return [{ user, source, kind: receiver.track.kind, receiver, track: receiver.track }];
        });
    }
}
