// The grid of a group call: a tile for everybody, the local user last, and larger ones for screens.

import { credentials } from "../connection/credentials.js";
import { errorMessage } from "../connection/problems.js";
import { avatar } from "../elements/avatar.js";
import { announce, button, h, toast } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { firstName } from "../language/format.js";
import { t } from "../language/texts.js";
import { ownQuality, qualityOf } from "../media/statistics.js";
import { TileVisibility } from "./tile-visibility.js";
import { Tile } from "./tile.js";

const ASPECT_RATIO = 4 / 3;

export class GridScene {
    node;
    #call;
    #screens;
    #tiles;
    #absent;
    #shown = new Map();
    #announced = new Map();
    #resizeObserver;
    #visibility;

    constructor(call) {
        this.#call = call;
        this.#screens = h("ul", { class: "screens", "aria-label": t("grid.screens") });
        this.#tiles = h("ul", { class: "tiles", "aria-label": t("grid.people"), tabindex: "0" });
        this.#absent = h("ul", { class: "absent", "aria-label": t("grid.absent") });
        this.node = h("div", { class: "scene grid", id: "grid" }, this.#absent,
            h("div", { class: "faces" }, this.#screens, this.#tiles));
        this.#resizeObserver = new ResizeObserver(() => this.#arrange());
        this.#resizeObserver.observe(this.#tiles);
        this.#visibility = new TileVisibility(() => this.#updatePreferredQuality());
    }

    show(section) {
        const call = this.#call;
        section.dataset.picture = "false";
        section.dataset.screen = "false";
        const me = credentials.user.id;
        // In the order of the document, which never changes, so that tiles move only when others are added or removed.
        const present = call.others.filter((one) => ["joined", "invited", "ringing"].includes(one.state));
        const order = [...present, this.#localParticipant(me)];
        const received = call.phase === "ended" ? [] : call.received;
        const tiles = new Map();
        for (const person of order) {
            if (this.#sharesScreen(person)) tiles.set(`screen ${person.user}`, [person, "screen"]);
            tiles.set(`camera ${person.user}`, [person, "camera"]);
        }
        for (const [key, tile] of this.#shown) {
            if (tiles.has(key)) continue;
            this.#visibility.unobserve(tile.node);
            tile.close();
            this.#shown.delete(key);
        }
        for (const [key, [person, source]] of tiles) {
            if (!this.#shown.has(key)) {
                this.#shown.set(key, new Tile(person, source));
                this.#visibility.observe(this.#shown.get(key).node);
            }
            const isMe = person.user === me;
            this.#shown.get(key).show(person, { isMe, track: this.#trackOf(person, source, isMe, received),
                isSpeaking: source === "camera" && call.levels?.isSpeaking(person.user), isMirrored: isMe && source === "camera" });
        }
        setOrder(this.#screens, [...tiles.keys()].filter((key) => key.startsWith("screen")).map((key) => this.#shown.get(key).node));
        setOrder(this.#tiles, [...tiles.keys()].filter((key) => key.startsWith("camera")).map((key) => this.#shown.get(key).node));
        this.node.dataset.screens = String(this.#screens.children.length);
        this.#showAbsent();
        this.#announceChanges(call.others);
        this.#arrange();
        this.#updatePreferredQuality();
    }

    /** Somebody started or stopped speaking. */
    updateSpeakers() {
        for (const [key, tile] of this.#shown) {
            if (key.startsWith("camera")) tile.setSpeaking(this.#call.levels?.isSpeaking(tile.user) && tile.node.dataset.muted !== "true");
        }
    }

    /** Shows the quality of each participant's media. */
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
        this.#resizeObserver.disconnect();
        this.#visibility.close();
        // Nothing is shown any more; a new scene sets its own preferences.
        this.#call.setPreferredQuality(() => "off");
        for (const tile of this.#shown.values()) tile.close();
    }

    /** Requests video as large as the tiles; a screen always in high quality, since text must stay readable. */
    #updatePreferredQuality() {
        this.#call.setPreferredQuality(({ user, source }) => {
            const tile = this.#shown.get(`${source} ${user}`);
            const quality = tile && !this.#call.held ? this.#visibility.preferredQuality(tile.node) : "off";
            return source === "screen" && quality !== "off" ? "high" : quality;
        });
    }

    #localParticipant(me) {
        const { user } = credentials;
        const known = this.#call.people.find((one) => one.user === me) ?? { user: me, displayName: user.displayName, photoURL: user.photoURL };
        // The local state, without waiting for the server.
        return { ...known, state: "joined", media: { audio: !this.#call.isMuted, held: this.#call.held } };
    }

    #sharesScreen(person) {
        const isMe = person.user === credentials.user.id;
        return isMe ? this.#call.isSharing : person.state === "joined" && person.media?.screen;
    }

    #trackOf(person, source, isMe, received) {
        const { media, held, phase } = this.#call;
        if (phase === "ended" || held) return undefined;
        if (isMe) return media[source];
        const isOn = source === "screen" ? person.media?.screen : person.media?.video;
        if (!isOn || person.media?.held || person.state !== "joined") return undefined;
        return received.find((one) => one.user === person.user && one.source === source)?.track;
    }

    /** The people who did not join, with a button to ring them again. People who left are not listed. */
    #showAbsent() {
        const call = this.#call;
        const absent = call.phase === "ended" ? []
            : call.others.filter((one) => ["declined", "missed", "busy", "unreachable"].includes(one.state));
        const key = absent.map((one) => `${one.user} ${one.state}`).join();
        if (this.#absent.dataset.key === key) return;
        this.#absent.dataset.key = key;
        redraw(this.#absent, absent.map((one) => h("li", { data: { user: one.user, state: one.state } },
            avatar({ ...one, id: one.user }, { size: "small" }),
            h("span", {}, t(`absent.${one.state}`, { name: firstName(one.displayName) })),
            button({ label: t("grid.ringAgain"), "aria-label": t("grid.ringNameAgain", { name: one.displayName }), class: "small", data: { action: "ring-again" },
                onclick: () => call.invite([{ id: one.user }]).catch((error) => toast(errorMessage(error), { error: true })) }))));
    }

    /** Announces to screen readers who joins, leaves and shares a screen. */
    #announceChanges(others) {
        const messages = [];
        for (const one of others) {
            const before = this.#announced.get(one.user);
            const now = { state: one.state, screen: Boolean(one.media?.screen) && one.state === "joined" };
            this.#announced.set(one.user, now);
            if (!before) continue;
            const name = firstName(one.displayName);
            if (before.state !== now.state) {
                if (["joined", "left", "declined"].includes(now.state)) messages.push(t(`announced.${now.state}`, { name }));
            }
            if (!before.screen && now.screen) messages.push(t("announced.screen", { name }));
        }
        const text = messages.filter(Boolean).join(". ");
        if (text) announce(text);
    }

    /** Sets the number of columns that makes the tiles largest. */
    #arrange() {
        const { clientWidth: width, clientHeight: height } = this.#tiles;
        const count = this.#tiles.children.length;
        if (width === 0 || count === 0) return;
        let best = { columns: 1, size: 0 };
        for (let columns = 1; columns <= count; columns += 1) {
            const [wide, high] = [width / columns, height / Math.ceil(count / columns)];
            const size = Math.min(wide, high * ASPECT_RATIO);
            if (size > best.size) best = { columns, size };
        }
        this.#tiles.style.setProperty("--columns", best.columns);
    }
}

/** Orders a list's nodes, without moving those in position: a moved video element restarts. */
function setOrder(list, nodes) {
    nodes.forEach((node, index) => {
        if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null);
    });
}
