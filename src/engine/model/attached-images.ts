/**
 * The images that people sent, for models that can see. They are read anew for every turn, as long as
 * their messages are in the context: what the model was shown once it must find there again, or it would
 * contradict itself. What they are is told by their bytes: a provider refuses a request for an image that
 * is not what it is said to be, and would refuse every later one too.
 */
import { readAtMost } from "../tools/file-text.ts";
import { openVouchedFile } from "../tools/confined-files.ts";
import { attachmentsOf } from "../../transcript/attachments.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";

export interface AttachedImage {
  mediaType: string;
  /** Base64. */
  data: string;
}

/** By path. */
export type AttachedImages = ReadonlyMap<string, AttachedImage>;

export const NO_IMAGES: AttachedImages = new Map();

/** As base64 they are a third larger: 5 MB is the most that Anthropic takes of one image. */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;
/** Google takes requests of 20 MB, the others larger ones. */
const MAX_TOTAL_BYTES = 12 * 1024 * 1024;
/** Of more images in a request Anthropic wants each to be smaller. */
const MAX_IMAGES = 20;

/** The newest first, as far as there is room. What cannot be shown stays a path in the text of its message. */
export async function loadAttachedImages(context: readonly TranscriptMessage[]): Promise<AttachedImages> {
  const images = new Map<string, AttachedImage>();
  let room = MAX_TOTAL_BYTES;
  const sent = attachmentsOf(context.filter(({ role }) => role === "user"));
  for (const { path, mimeType = "" } of sent.toReversed()) {
    if (images.size === MAX_IMAGES) break;
    if (!mimeType.startsWith("image/") && !/\.(?:png|jpe?g|gif|webp)$/i.test(path)) continue;
    const bytes = await readImage(path, Math.min(room, MAX_IMAGE_BYTES));
    const mediaType = bytes === undefined ? undefined : imageType(bytes);
    if (bytes === undefined || mediaType === undefined) continue;
    room -= bytes.length;
    images.set(path, { mediaType, data: bytes.toString("base64") });
  }
  return images;
}

/** Undefined for what is too large or gone. */
async function readImage(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    await using handle = await openVouchedFile(path);
    if ((await handle.stat()).size > maxBytes) return undefined;
    return await readAtMost(handle, maxBytes);
  } catch {
    return undefined;
  }
}

/** The types that every provider with eyes takes. */
function imageType(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF[^]{4}WEBP$/.test(start) ? "image/webp" : undefined;
}
