/** Times in the browser's language. */
const DAY_MS = 86_400_000;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });

/** Short enough for a list. */
function shortTime(at: number, now: number = Date.now()): string {
  const days = daysAgo(at, now);
  if (days <= 0) return clock.format(at);
  if (days < 7) return weekday.format(at);
  return isSameYear(at, now) ? day.format(at) : dayAndYear.format(at);
}

export function dayName(at: number, now: number = Date.now()): string {
  const days = daysAgo(at, now);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  return isSameYear(at, now) ? day.format(at) : dayAndYear.format(at);
}

export function clockTime(at: number): string {
  return clock.format(at);
}

export function fullTime(at: number): string {
  return whole.format(at);
}

/** Number of midnights between the two. */
export function daysAgo(at: number, now: number): number {
  return Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

function isSameYear(at: number, now: number): boolean {
  return new Date(at).getFullYear() === new Date(now).getFullYear();
}

/** Transcripts may contain invalid times. */
export function When({ at, format }: { at: number; format: (at: number) => string }) {
  if (!Number.isFinite(at) || Math.abs(at) > MAX_TIME) return null;
  return (
    <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
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
