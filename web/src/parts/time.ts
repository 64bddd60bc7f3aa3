/** Times in the browser's language. */
const DAY_MS = 86_400_000;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });

/** Short enough for a list. */
export function shortTime(at: number, now: number = Date.now()): string {
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

export function isoTime(at: number): string {
  return new Date(at).toISOString();
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
