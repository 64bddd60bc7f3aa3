/** Only addresses that open a page or a letter; `javascript:` and everything else that runs is text. */
const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

export function safeLink(target: string): string | undefined {
  try {
    // Without a base: what is relative would lead into this page.
    const { protocol, href } = new URL(target);
    return SCHEMES.has(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}
