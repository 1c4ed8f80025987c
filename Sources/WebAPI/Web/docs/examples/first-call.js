// Two users, two tokens and an answered call. For Node.js from 20 on, and browsers; needs SERVER.
const { SERVER = "http://127.0.0.1:8080" } = globalThis.process?.env ?? globalThis;
// docs:begin
const uuid = () => crypto.randomUUID();

async function post(path, body, headers) {
    const options = { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) };
    const response = await fetch(`${SERVER}/v1/${path}`, options);
    if (!response.ok) throw new Error(await response.text());
    return response.status === 204 ? undefined : response.json();
}

async function signUp(displayName) {
    const { user, accessToken } = await post("accounts", {
        email: `${uuid()}@example.org`, password: "correct horse battery", displayName,
        device: { name: "JavaScript", platform: "web" },
    });
    // An endpoint is one client: an id and a secret of its own making.
    const headers = { Authorization: `Bearer ${accessToken}`, "Switchboard-Endpoint": `${uuid()} ${uuid()}` };
    return { id: user.id, post: (path, body = {}) => post(path, body, headers) };
}

const [ann, ben] = [await signUp("Ann"), await signUp("Ben")];
const { call } = await ann.post("calls", { clientID: uuid(), callees: [ben.id], kind: "audio", offer: { sdp: "v=0" } });
await ben.post(`calls/${call.id}/ringing`);
console.log((await ben.post(`calls/${call.id}/accept`, { clientID: uuid() })).call.status); // active
console.log((await ann.post(`calls/${call.id}/end`)).call.endReason); // hung_up
// docs:end
