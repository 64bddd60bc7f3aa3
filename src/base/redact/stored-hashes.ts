/** Passwords as systems keep them, salted and hashed: whoever has one can try words against it at leisure. */
import { keepingFirstGroup } from "./mark.ts";

/** `$6$salt$hash` as in `/etc/shadow`; `pbkdf2_sha256$…` and `SCRAM-SHA-256$…` as frameworks and databases have them. */
const WITH_DOLLARS =
  /(\$(?:(?:1|2[abxy]?|5|6|7|y|gy|P|H|apr1|md5|sha1|argon2(?:id|[id])|b?scrypt(?:-sha256)?|pbkdf2[\w-]{0,12})\$|(?<=\b(?:pbkdf2|bcrypt|scrypt|argon2|SCRAM-SHA)[\w:-]{0,40}\$)))(?=[^\s"'`]{0,128}\d)[\w./+=,:$-]{20,512}/g;
/** As LDAP keeps them: `{SSHA}…`. */
const WITH_SCHEME = /(\{(?:S{0,2}(?:SHA|MD5)\d{0,3}|CRYPT|PBKDF2[\w-]{0,12}|ARGON2)\})[\w./+=,:$-]{13,512}/gi;

export function redactStoredHashes(text: string): string {
  let result = text;
  if (result.includes("$")) result = result.replace(WITH_DOLLARS, keepingFirstGroup);
  return result.includes("}") ? result.replace(WITH_SCHEME, keepingFirstGroup) : result;
}
