// What real clients offer a gateway: each recipe makes a connection and answers the offers of its life, in order.
// Runs in any browser; `answered(offer)` may give the gateway's answer, and is the second peer of the page otherwise.
window.makeOffers = async (recipe, answers) => {
    const peer = new RTCPeerConnection({ bundlePolicy: recipe.bundlePolicy ?? "max-bundle" });
    const offers = [];
    const mirror = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
    const media = await navigator.mediaDevices.getUserMedia({ audio: true, video: true });
    const [audio] = media.getAudioTracks(), [video] = media.getVideoTracks();
    const layers = [
        { rid: "q", scaleResolutionDownBy: 4, maxBitrate: 150000 },
        { rid: "h", scaleResolutionDownBy: 2, maxBitrate: 500000 },
        { rid: "f", maxBitrate: 1500000 },
    ];
    const slots = (kind, count) => {
        for (let slot = 0; slot < count; slot += 1) peer.addTransceiver(kind, { direction: "recvonly" });
    };
    // Gathers, so that the offer carries candidates and their end, unless it is to be a bare one.
    const exchange = async (bare = false) => {
        await peer.setLocalDescription(await peer.createOffer());
        while (!bare && peer.iceGatheringState !== "complete") await new Promise((done) => setTimeout(done, 20));
        offers.push(peer.localDescription.sdp);
        const answer = answers?.[offers.length - 1];
        if (answer !== undefined) {
            await peer.setRemoteDescription({ type: "answer", sdp: answer });
        } else if (answers === undefined) {
            await mirror.setRemoteDescription(peer.localDescription);
            await mirror.setLocalDescription(await mirror.createAnswer());
            await peer.setRemoteDescription(mirror.localDescription);
        }
    };

    if (recipe.name === "plain") {
        peer.addTrack(audio, media);
        peer.addTrack(video, media);
        if (recipe.data) peer.createDataChannel("chat");
        await exchange();
    } else {
        peer.addTransceiver(audio, { direction: "sendonly", streams: [media] });
        peer.addTransceiver(video, { direction: "sendonly", streams: [media], sendEncodings: layers });
        slots("audio", recipe.audioSlots);
        slots("video", recipe.videoSlots);
        await exchange(recipe.bare);
    }
    if (recipe.name === "life") {
        // A screen is shared, which is another section, and one more slot is asked for.
        const screen = peer.addTransceiver(video.clone(), { direction: "sendonly", streams: [new MediaStream()] });
        slots("video", 1);
        await exchange();
        // It ends: its section is rejected by the offer …
        screen.stop();
        await exchange();
        // … and taken by something else.
        peer.addTransceiver(video.clone(), { direction: "sendonly", streams: [media] });
        await exchange();
        // The network changed; and the microphone is off for good.
        peer.getTransceivers()[0].direction = "inactive";
        peer.restartIce();
        await exchange();
    }
    const directions = peer.getTransceivers().map((one) => `${one.mid} ${one.currentDirection}`);
    const state = peer.signalingState;
    peer.close();
    mirror.close();
    media.getTracks().forEach((track) => track.stop());
    return { offers, directions, state };
};
