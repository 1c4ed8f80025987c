// The picture of a group call: a tile for everybody, oneself last, and larger ones for screens.

import { credentials } from "../credentials.js";
import { announce, button, h, toast } from "../dom.js";
import { inWords } from "../problems.js";
import { ownQuality, qualityOf } from "../statistics.js";
import { firstName, presenceInCall } from "../format.js";
import { avatar } from "./avatar.js";
import { Sight } from "./visibility.js";
import { Tile } from "./tile.js";

const SHAPE = 4 / 3;

export class GridScene {
    node;
    #call;
    #screens;
    #tiles;
    #absent;
    #shown = new Map();
    #said = new Map();
    #watch;
    #sight;

    constructor(call) {
        this.#call = call;
        this.#screens = h("ul", { class: "screens", "aria-label": "Shared screens" });
        this.#tiles = h("ul", { class: "tiles", "aria-label": "People in the call", tabindex: "0" });
        this.#absent = h("ul", { class: "absent", "aria-label": "People who are not in the call" });
        this.node = h("div", { class: "scene grid", id: "grid" }, this.#absent,
            h("div", { class: "faces" }, this.#screens, this.#tiles));
        this.#watch = new ResizeObserver(() => this.#arrange());
        this.#watch.observe(this.#tiles);
        this.#sight = new Sight(() => this.#look());
    }

    show(section) {
        const call = this.#call;
        section.dataset.picture = "false";
        section.dataset.screen = "false";
        const me = credentials.user.id;
        // In the order of the document, which never changes, so that no tile moves but for those that come and go.
        const there = call.others.filter((one) => ["joined", "invited", "ringing"].includes(one.state));
        const order = [...there, this.#me(me)];
        const received = call.phase === "ended" ? [] : call.received;
        const wanted = new Map();
        for (const person of order) {
            if (this.#sharesScreen(person)) wanted.set(`screen ${person.user}`, [person, "screen"]);
            wanted.set(`camera ${person.user}`, [person, "camera"]);
        }
        for (const [key, tile] of this.#shown) {
            if (wanted.has(key)) continue;
            this.#sight.forget(tile.node);
            tile.close();
            this.#shown.delete(key);
        }
        for (const [key, [person, source]] of wanted) {
            if (!this.#shown.has(key)) {
                this.#shown.set(key, new Tile(person, source));
                this.#sight.watch(this.#shown.get(key).node);
            }
            const isMe = person.user === me;
            this.#shown.get(key).show(person, { isMe, track: this.#picture(person, source, isMe, received),
                isSpeaking: source === "camera" && call.levels?.speaks(person.user), isMirrored: isMe && source === "camera" });
        }
        place(this.#screens, [...wanted.keys()].filter((key) => key.startsWith("screen")).map((key) => this.#shown.get(key).node));
        place(this.#tiles, [...wanted.keys()].filter((key) => key.startsWith("camera")).map((key) => this.#shown.get(key).node));
        this.node.dataset.screens = String(this.#screens.children.length);
        this.#showAbsent();
        this.#tell(call.others);
        this.#arrange();
        this.#look();
    }

    /** Somebody began or ended to speak. */
    speak() {
        for (const [key, tile] of this.#shown) {
            if (key.startsWith("camera")) tile.speak(this.#call.levels?.speaks(tile.user) && tile.node.dataset.muted !== "true");
        }
    }

    /** The quality of what each of them sends, as it arrives here. */
    rate(sample) {
        const received = this.#call.received;
        const me = credentials.user.id;
        for (const [key, tile] of this.#shown) {
            if (!key.startsWith("camera")) continue;
            const tracks = received.filter((one) => one.user === tile.user).map((one) => one.track.id);
            tile.rate(tile.user === me ? ownQuality(sample) : qualityOf(sample, tracks));
        }
    }

    close() {
        this.#watch.disconnect();
        this.#sight.close();
        // Nobody looks any more; who shows the call again says so.
        this.#call.see(() => "off");
        for (const tile of this.#shown.values()) tile.close();
    }

    /** Asks for pictures as large as the tiles. Writing on a screen is read in a small tile too, as far as it can be. */
    #look() {
        this.#call.see(({ user, source }) => {
            const tile = this.#shown.get(`${source} ${user}`);
            const enough = tile && !this.#call.held ? this.#sight.enough(tile.node) : "off";
            return source === "screen" && enough !== "off" ? "high" : enough;
        });
    }

    #me(me) {
        const { user } = credentials;
        const known = this.#call.people.find((one) => one.user === me) ?? { user: me, displayName: user.displayName, photoURL: user.photoURL };
        // What is seen of oneself does not wait for the server.
        return { ...known, state: "joined", media: { audio: !this.#call.isMuted, held: this.#call.held } };
    }

    #sharesScreen(person) {
        const isMe = person.user === credentials.user.id;
        return isMe ? this.#call.isSharing : person.state === "joined" && person.media?.screen;
    }

    #picture(person, source, isMe, received) {
        const { media, held, phase } = this.#call;
        if (phase === "ended" || held) return undefined;
        if (isMe) return media[source];
        const isOn = source === "screen" ? person.media?.screen : person.media?.video;
        if (!isOn || person.media?.held || person.state !== "joined") return undefined;
        return received.find((one) => one.user === person.user && one.source === source)?.track;
    }

    /** Those who do not come, and a way to ask them again. Who has left is not held on to. */
    #showAbsent() {
        const call = this.#call;
        const absent = call.phase === "ended" ? []
            : call.others.filter((one) => ["declined", "missed", "busy", "unreachable"].includes(one.state));
        const key = absent.map((one) => `${one.user} ${one.state}`).join();
        if (this.#absent.dataset.key === key) return;
        this.#absent.dataset.key = key;
        this.#absent.replaceChildren(...absent.map((one) => h("li", { data: { user: one.user, state: one.state } },
            avatar({ ...one, id: one.user }, { size: "small" }),
            h("span", {}, `${firstName(one.displayName)}: ${presenceInCall(one).toLowerCase()}`),
            button({ label: "Ring again", "aria-label": `Ring ${one.displayName} again`, class: "small", data: { action: "ring-again" },
                onclick: () => call.invite([{ id: one.user }]).catch((error) => toast(inWords(error), { error: true })) }))));
    }

    /** Says aloud who comes and goes and who shows a screen. */
    #tell(others) {
        const words = [];
        for (const one of others) {
            const before = this.#said.get(one.user);
            const now = { state: one.state, screen: Boolean(one.media?.screen) && one.state === "joined" };
            this.#said.set(one.user, now);
            if (!before) continue;
            const name = firstName(one.displayName);
            if (before.state !== now.state) {
                words.push({ joined: `${name} joined`, left: `${name} left`, declined: `${name} declined` }[now.state]);
            }
            if (!before.screen && now.screen) words.push(`${name} is sharing their screen`);
        }
        const text = words.filter(Boolean).join(". ");
        if (text) announce(text);
    }

    /** As many columns as make the tiles largest. */
    #arrange() {
        const { clientWidth: width, clientHeight: height } = this.#tiles;
        const count = this.#tiles.children.length;
        if (width === 0 || count === 0) return;
        let best = { columns: 1, size: 0 };
        for (let columns = 1; columns <= count; columns += 1) {
            const [wide, high] = [width / columns, height / Math.ceil(count / columns)];
            const size = Math.min(wide, high * SHAPE);
            if (size > best.size) best = { columns, size };
        }
        this.#tiles.style.setProperty("--columns", best.columns);
    }
}

/** Puts the nodes into a list in this order, without touching those that stand there: a video that moves begins anew. */
function place(list, nodes) {
    nodes.forEach((node, index) => {
        if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null);
    });
}
