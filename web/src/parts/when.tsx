import { fullTime, isoTime } from "./time.ts";

/** Transcripts may contain invalid times. */
export function When({ at, format }: { at: number; format: (at: number) => string }) {
  if (!Number.isFinite(at) || Math.abs(at) > MAX_TIME) return null;
  return (
    <time dateTime={isoTime(at)} title={fullTime(at)}>
      {format(at)}
    </time>
  );
}

const MAX_TIME = 8.64e15;
