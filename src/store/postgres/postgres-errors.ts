/** Which errors of PostgreSQL and of the connection mean what, and what a person can do about them. */
import { HoldfastError, errorMessage } from "../../base/errors.ts";

/** The SQLSTATE of a refusal by one of our functions. */
export const REFUSED = {
  leaseLost: "HF001",
  itemNotRunning: "HF002",
  noOutboxItem: "HF003",
  alreadyDelivered: "HF004",
  windowIsCurrent: "HF005",
  labelInUse: "HF006",
} as const;

/** The SQLSTATE or the system's error code. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** The detail that one of our functions has added to its refusal. */
export function detailOf(error: unknown): string {
  const { detail } = (error ?? {}) as { detail?: unknown };
  return typeof detail === "string" ? detail : "";
}

/** A serialization failure or a deadlock: nothing was changed, and a repetition can succeed. */
export function isConflict(error: unknown): boolean {
  return /^(?:40001|40P01)$/.test(codeOf(error));
}

/** The connection is lost or was refused. A restarting server and one without free connections count too. */
export function isConnectionLost(error: unknown): boolean {
  return (
    LOST_CODES.test(codeOf(error)) ||
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/i.test(
      errorMessage(error),
    )
  );
}

const LOST_CODES =
  /^(?:08\w{3}|57P0[1-5]|53300|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT|HF-TIMEOUT)$/;

/** A HoldfastError for what a person can change. Other errors are returned as they are. */
export function storeError(error: unknown, location: string): unknown {
  if (error instanceof HoldfastError) return error;
  const advice = isConnectionLost(error) ? UNREACHABLE : (ADVICE[codeOf(error)] ?? tlsAdvice(error));
  if (advice === undefined) return error;
  const { kind, code, hint } = advice;
  return new HoldfastError(kind, code, `The store ${location} failed: ${errorMessage(error)}`, {
    hint,
    data: { location, sqlState: codeOf(error) },
    cause: error,
  });
}

type Advice = Pick<HoldfastError, "kind" | "code"> & { hint: string };

const UNREACHABLE: Advice = {
  kind: "unavailable",
  code: "store-unreachable",
  hint: "Check that PostgreSQL runs and that the host and port of store.url are right. Nothing was changed.",
};

function tlsAdvice(error: unknown): Advice | undefined {
  if (/server does not support SSL/i.test(errorMessage(error))) return NO_TLS;
  return CERTIFICATE_CODES.test(codeOf(error)) ? UNTRUSTED : undefined;
}

const CERTIFICATE_CODES =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY)_|ERR_TLS_CERT_)|^HOSTNAME_MISMATCH$/;

const NO_TLS: Advice = {
  kind: "unsupported",
  code: "store-no-tls",
  hint: "Set ssl = on for the server, or sslmode=disable in store.url if the network is trusted.",
};

const UNTRUSTED: Advice = {
  kind: "forbidden",
  code: "store-certificate",
  hint: "Name the certificate of its authority with sslrootcert=… in store.url, and the host as in the certificate.",
};

const LOGIN_REFUSED: Advice = {
  kind: "forbidden",
  code: "store-login-refused",
  hint: "Check the user and the password in store.url, store.passwordFile, and the server's pg_hba.conf, which may demand TLS.",
};

const ADVICE: Readonly<Record<string, Advice>> = {
  "28000": LOGIN_REFUSED,
  "28P01": LOGIN_REFUSED,
  "3D000": {
    kind: "not-found",
    code: "store-database-missing",
    hint: "Create the database with `createdb`, or correct its name in store.url.",
  },
  "42501": {
    kind: "forbidden",
    code: "store-no-rights",
    hint: "Let this user own the database, or run `GRANT CREATE ON DATABASE … TO …`. Nothing was changed.",
  },
  "25006": {
    kind: "unavailable",
    code: "store-read-only",
    hint: "The server accepts no writes: store.url names a standby. Use the address of the primary.",
  },
  "53100": {
    kind: "unavailable",
    code: "store-disk-full",
    hint: "Free space on the server of the database. Nothing was changed.",
  },
  "54000": {
    kind: "usage",
    code: "key-too-long",
    hint: "A key, an id or a label is longer than an index of PostgreSQL allows (2,700 bytes).",
  },
};

export const OUTCOME_UNKNOWN = "store-outcome-unknown";

export function outcomeUnknown(location: string, cause: unknown): HoldfastError {
  return new HoldfastError("unavailable", OUTCOME_UNKNOWN, `The connection to ${location} broke during a write`, {
    hint: "The change may have been made. Read the session again before you repeat it.",
    data: { location },
    cause,
  });
}

export function invalidUrl(setting: string, cause: unknown): HoldfastError {
  return new HoldfastError("usage", "store-url-invalid", `${setting} is not the URL of a database`, {
    hint: `Set ${setting} to postgres://user@host:5432/database. Write special characters in percent-encoding.`,
    cause,
  });
}

export function noPasswordFile(path: string, cause: unknown): HoldfastError {
  const message = `store.passwordFile cannot be read: ${errorMessage(cause)}`;
  const hint = "Create the file with the password of the database, readable for this user only.";
  return new HoldfastError("usage", "store-password-file", message, { hint, data: { path }, cause });
}

export function unknownTlsMode(setting: string, mode: string | null, known: readonly string[]): HoldfastError {
  const message = mode === null ? `${setting} has no sslmode` : `${setting} has the unknown sslmode ${mode}`;
  return new HoldfastError("usage", "store-url-invalid", message, { hint: `Use one of: ${known.join(", ")}.` });
}

export function noRootCertificate(setting: string): HoldfastError {
  return new HoldfastError("usage", "store-url-invalid", `${setting} has sslmode=verify-ca without sslrootcert`, {
    hint: "Name the certificate of the authority with sslrootcert=…, or use sslmode=verify-full.",
  });
}

export function unreadableCertificate(setting: string, name: string, path: string, cause: unknown): HoldfastError {
  const message = `${name} of ${setting} cannot be read: ${errorMessage(cause)}`;
  return new HoldfastError("usage", "store-certificate-file", message, {
    hint: "Correct the path. The file must be readable for the user that runs Holdfast.",
    data: { path },
    cause,
  });
}

export interface ServerState {
  /** As in `server_version_num`: 150004 is 15.4. */
  version: number;
  fsync: string;
  synchronousCommit: string;
  isStandby: boolean;
}

const OLDEST_VERSION = 150_000;

/** Refuses a server on which an acknowledged message could be lost. */
export function checkServer({ version, fsync, synchronousCommit, isStandby }: ServerState, location: string): void {
  if (version < OLDEST_VERSION) {
    throw new HoldfastError(
      "unsupported",
      "store-server-too-old",
      `${location} is PostgreSQL ${Math.floor(version / 10_000)}; Holdfast needs 15 or newer`,
      { hint: "Upgrade the server, or use another one. Nothing was changed.", data: { location, version } },
    );
  }
  if (isStandby) throw storeError(Object.assign(new Error("the server is a standby"), { code: "25006" }), location);
  const setting = fsync === "off" ? "fsync" : synchronousCommit === "off" ? "synchronous_commit" : undefined;
  if (setting === undefined) return;
  throw new HoldfastError(
    "unsupported",
    "store-not-durable",
    `${location} has ${setting} = off: a crash of the server would lose acknowledged messages`,
    { hint: `Set ${setting} = on for this server. Nothing was changed.`, data: { location, setting } },
  );
}

export function poolerOnDirectUrl(location: string): HoldfastError {
  return new HoldfastError(
    "unsupported",
    "store-direct-url-pooled",
    `The connection to ${location} goes through a pooler, where LISTEN and session locks do not work`,
    { hint: "Set store.directUrl to the address of the PostgreSQL server itself.", data: { location } },
  );
}

export function newerSchema(location: string, version: number, supported: number): HoldfastError {
  return new HoldfastError(
    "unsupported",
    "store-too-new",
    `The store ${location} has version ${version}; this Holdfast knows versions up to ${supported}`,
    { hint: "Upgrade Holdfast on this machine. Nothing was changed.", data: { location, version, supported } },
  );
}

export function olderNodes(location: string, hosts: readonly string[]): HoldfastError {
  return new HoldfastError(
    "conflict",
    "store-nodes-too-old",
    `Nodes of a much older Holdfast still use the store ${location}: ${hosts.join(", ")}`,
    { hint: "Stop them, or upgrade release by release. Nothing was changed.", data: { location, hosts: [...hosts] } },
  );
}
