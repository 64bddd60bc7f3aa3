/**
 * The fragment of the page's address: session, window and entry to show, and in a link from `holdfast gateway`
 * the token. The token is removed first, so that it stays neither in the address bar nor in the history.
 */
export interface Place {
  key?: string | undefined;
  /** An earlier window. Default: the current one. */
  windowId?: string | undefined;
  /** The entry to scroll to. Default: the end. */
  entryId?: string | undefined;
}

export function readPlace(): Place {
  const parameters = readFragment();
  const key = parameters.get("s") ?? undefined;
  if (key === undefined) return {};
  return { key, windowId: parameters.get("w") ?? undefined, entryId: parameters.get("e") ?? undefined };
}

export function writePlace(place: Place, how: "push" | "replace" = "push"): void {
  const fragment = formatPlace(place);
  if (fragment === location.hash) return;
  const address = `${location.pathname}${fragment}`;
  if (how === "push") history.pushState(undefined, "", address);
  else history.replaceState(undefined, "", address);
}

export function takeTokenFromAddress(): string | undefined {
  const token = readFragment().get("token")?.trim();
  if (token === undefined) return undefined;
  writePlace(readPlace(), "replace");
  return token === "" ? undefined : token;
}

/** From a pasted link or token. */
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
