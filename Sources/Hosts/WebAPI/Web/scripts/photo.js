// A photo as the server takes it: no larger than it is shown, in few bytes, without what the camera wrote into the file.

import { Problem } from "./problems.js";

const SIDE = 768;
const LARGEST = 512 * 1024;

/** Scales a picture file to fit, turned as it is meant; answers a Blob. Throws a `Problem` where it is no picture. */
export async function scaled(file) {
    let bitmap;
    try {
        bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
    } catch {
        throw new Problem({ type: "invalid_request", field: "body", detail: "This is not a picture that this browser can read." });
    }
    for (let side = SIDE; ; side /= 2) {
        const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
        const canvas = document.createElement("canvas");
        canvas.width = Math.max(1, Math.round(bitmap.width * scale));
        canvas.height = Math.max(1, Math.round(bitmap.height * scale));
        canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
        // Browsers that cannot write WebP write PNG.
        const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/webp", 0.85));
        if (blob && (blob.size <= LARGEST || side < 64)) return blob;
    }
}
