/** What somebody waits for only so long: they go on without it, and it may end behind their back. */

export const TOO_LATE = Symbol("too late");

export async function within<T>(ms: number, work: Promise<T>): Promise<T | typeof TOO_LATE> {
  const late = Promise.withResolvers<typeof TOO_LATE>();
  const timer = setTimeout(() => late.resolve(TOO_LATE), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    // Whoever stopped waiting does not hear of a failure; it must not become an unhandled one.
    work.catch(() => undefined);
  }
}
