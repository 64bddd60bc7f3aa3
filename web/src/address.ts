/**
 * What stands behind the `#` of the address: the session and window that are shown, and, in a link that
 * `holdfast gateway` printed, the token. The token is taken out before anything else happens: it stays
 * neither in the address bar nor in the history.
 */
export interface Place {
  key?: string;
  /** An earlier window. Left out: the current one. */
  windowId?: string;
  /** The entry to scroll to. Left out: the end. */
  entryId?: string;
}

export function readPlace(): Place {
  const parameters = readFragment();
  const key = parameters.get("s") ?? undefined;
  const windowId = parameters.get("w") ?? undefined;
  const entryId = parameters.get("e") ?? undefined;
  return {
    ...(key === undefined ? {} : { key }),
    ...(key === undefined || windowId === undefined ? {} : { windowId }),
    ...(key === undefined || entryId === undefined ? {} : { entryId }),
  };
}

export function writePlace(place: Place, how: "push" | "replace" = "push"): void {
  const fragment = formatPlace(place);
  if (fragment === location.hash) return;
  const address = `${location.pathname}${fragment}`;
  if (how === "push") history.pushState(undefined, "", address);
  else history.replaceState(undefined, "", address);
}

/** The token of the link that was followed, if there was one. */
export function takeTokenFromAddress(): string | undefined {
  const token = readFragment().get("token")?.trim();
  if (token === undefined) return undefined;
  writePlace(readPlace(), "replace");
  return token === "" ? undefined : token;
}

/** From a pasted link, or from the token alone. */
export function tokenFromText(text: string): string | undefined {
  const found = /(?:^|[#&?])token=([\w-]+)/.exec(text.trim())?.[1] ?? text.trim();
  return /^[\w-]+$/.test(found) ? found : undefined;
}

export function formatPlace({ key, windowId, entryId }: Place): string {
  if (key === undefined) return "";
  const parameters = new URLSearchParams({
    s: key,
    ...(windowId === undefined ? {} : { w: windowId }),
    ...(entryId === undefined ? {} : { e: entryId }),
  });
  return `#${parameters.toString()}`;
}

function readFragment(): URLSearchParams {
  return new URLSearchParams(location.hash.replace(/^#/, ""));
}
