// Whether a browser's subscription is registered with the server, and the server's key in both of its forms.

/** After so long it is registered again, in milliseconds: the server may have dropped it, or be a restored copy. */
const REGISTERED_TIME = 86_400_000;

/** `known` is what was registered last, if anything was, `{user, session, endpoint, key, at}`; `now` is by the clock that `at` is. */
export function isRegistered(known, wanted, now) {
    return Boolean(known) && ["user", "session", "endpoint", "key"].every((name) => known[name] === wanted[name])
        && Math.abs(now - known.at) < REGISTERED_TIME;
}

/** A key in base64url, without padding, as bytes, and the other way round. */
export const bytesOfKey = (key) => Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));

export function keyOfBytes(buffer) {
    if (!buffer) return undefined;
    return btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
