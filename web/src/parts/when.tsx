import { fullTime, isoTime, shortTime } from "./time.ts";

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

/** The first line of a row in a list. */
export function RowHead({ title, at }: { title: string; at: number }) {
  return (
    <span className="row-line">
      <span className="row-title" dir="auto">
        {title}
      </span>
      <span className="row-time">
        <When at={at} format={shortTime} />
      </span>
    </span>
  );
}
