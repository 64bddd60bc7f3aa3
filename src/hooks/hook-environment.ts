/** The environment of a hook: what programs need to run, and what the hook says it needs. Keys and tokens that
 * Holdfast itself was started with are not among it. */
import type { Environment } from "../config/layout.ts";

const ALWAYS =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TERM|TMPDIR|TEMP|TMP|XDG_\w+|SSH_AUTH_SOCK|SYSTEMROOT|APPDATA|LOCALAPPDATA|USERPROFILE|PATHEXT|HOLDFAST_HOME|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/i;

export function hookEnvironment(env: Environment, variables: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (ALWAYS.test(entry[0]) || variables.includes(entry[0])),
    ),
  );
}
