// Prepares a photo for upload: scaled down, compressed, and without the camera's metadata.

import { Problem } from "../connection/problems.js";
import { t } from "../language/texts.js";

const MAX_SIDE = 768;
const MAX_BYTES = 512 * 1024;

/**
 * Scales an image file down, with its orientation applied; returns a Blob. Throws a `Problem` if it is not an image.
 */
export async function scaled(file) {
    let bitmap;
    try {
        bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
    } catch {
        throw new Problem({ type: "invalid_request", field: "body", detail: t("photo.unreadable") });
    }
    for (let side = MAX_SIDE; ; side /= 2) {
        const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
        const canvas = document.createElement("canvas");
        canvas.width = Math.max(1, Math.round(bitmap.width * scale));
        canvas.height = Math.max(1, Math.round(bitmap.height * scale));
        canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
        // Browsers that cannot write WebP write PNG.
        const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/webp", 0.85));
        if (blob && (blob.size <= MAX_BYTES || side < 64)) return blob;
    }
}
