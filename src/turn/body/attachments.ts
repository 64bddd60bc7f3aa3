/** The files that came with a message, named so that an engine can look at them. */
import { isAbsolute } from "node:path";
import { printableLine } from "../../base/printable.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import type { Attachment } from "../../transcript/entries.ts";

/** `[media attached: media/photo.jpg (image/jpeg)]`, one line each; what was not downloaded by its address. */
export function attachmentLines({ MediaPaths = [], MediaUrls = [], MediaTypes = [] }: MessageContext): string[] {
  const count = Math.max(MediaPaths.length, MediaUrls.length);
  return Array.from({ length: count }, (_, at) => {
    const place = bare(MediaPaths[at]) || bare(MediaUrls[at]);
    const type = bare(MediaTypes[at]);
    return place === "" ? "" : `[media attached: ${place}${type === "" ? "" : ` (${type})`}]`;
  }).filter((line) => line !== "");
}

/** What the transcript keeps of them: the files that were downloaded. A relative path is one of the workspace. */
export function attachmentsOfMessage({ MediaPaths = [], MediaTypes = [] }: MessageContext): Attachment[] {
  return MediaPaths.flatMap((path, at) => {
    const mimeType = MediaTypes[at] ?? "";
    return isAbsolute(path) ? [{ path, ...(mimeType === "" ? {} : { mimeType }) }] : [];
  });
}

/** One line that cannot close the bracket around it. */
function bare(text: string | undefined): string {
  return printableLine(text ?? "", 1024)
    .replaceAll("[", "(")
    .replaceAll("]", ")");
}
