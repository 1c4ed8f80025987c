// The tabs that the worker serves.

/** The tabs of the web client, not those of /docs. */
export async function pages() {
    const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
    return windows.filter(({ url }) => new URL(url).pathname === "/");
}
