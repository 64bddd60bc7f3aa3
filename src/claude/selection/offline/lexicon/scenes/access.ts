/** Getting in, staying in, being kept out, and what must not leak. */
import type { Topics } from "../topics.ts";

export const ACCESS_SCENES: Topics = {
  "cannot get in": `can't get in, cannot get in, locked out, lock out, login, log in, login fails, sign in, signin,
    logon, credentials, authentication, auth, account locked, too many attempts, wrong password, access denied at
    login, log on, front door, let people in, people can't, passkey, webauthn, fido, magic link, login form`,
  "forgotten password": `forgot password, forgotten password, forgot their password, password reset, reset password,
    reset mail, reset link, no longer know, lost password, secret, get back in, recover account, account recovery,
    one-time link, recovery, set a new password, reset pin, change password, passphrase`,
  "thrown out": `logged out, kicked out, thrown out, signed out, log in again, sign in again, session expired, session
    expires, session timeout, session cookie, cookie, cookies, samesite, refresh token, token refresh, token expired,
    token expires, expired, expires too early, remember me, stay signed in, keep me logged in, every few minutes,
    after an hour, silent renew, token rotation, access token, idle timeout, sliding expiration`,
  "company login": `sso, single sign-on, single sign on, saml, oidc, openid, openid connect, okta, auth0, keycloak,
    azure ad, entra, ldap, active directory, identity provider, idp, acs, assertion, scim, provisioning, google login,
    social login, sign in with, oauth, oauth2, adfs, cognito, company account, corporate login, relay state, 403 after
    redirect`,
  "second step": `two-factor, 2fa, mfa, multi-factor, otp, totp, one-time password, one-time passcode, passcode,
    passcodes, one time code, verification code, code by sms, sms code, authenticator, authenticator app, google
    authenticator, backup codes, security key, yubikey, six digits, pin, confirm code, login code, step-up, code is
    invalid, code arrives`,
  "signed tokens": `jwt, json web token, access token, id token, expired, token accepted, not verified, token
    verification, jwks, signing key, signing keys, signing cert, signing certs, key rotation, rotate keys, rotate,
    rotating, kid, claims, exp claim, exp, expiry, expiry check, iat, nbf, clock tolerance, audience, issuer,
    signature, public key, private key, hmac, rs256, bearer, quarter, overlap, retire the old, verify signature,
    expired token`,
  "who may what": `permission, permissions, role, roles, rbac, abac, acl, access control, authorisation,
    authorization, access check, per-student, forbidden, 403, 404 instead of, not allowed, may see, can see, see each
    other, see other people's, other people's data, someone else's, foreign records, idor, object-level, tenant
    isolation, admin only, privilege, privileges, policy, policies, opa, casbin, row level security, rls, who may,
    restrict access, visible to everyone, must not see, leak between, confidential, other customers' data`,
  tenants: `tenant, tenants, multi-tenant, multi-tenancy, workspace, workspaces, organisation, organization, customer
    separation, schema per tenant, tenant id, subdomain per customer, account switch, per workspace, data of another
    company`,
  "signing up": `signup, sign-up, sign up, register, registration, create account, new account, confirm email, email
    verification, verify address, double opt-in, invitation, invite, invite link, registration form, disposable email,
    google sign-up, username taken, onboarding of users`,
  profile: `profile, user profile, avatar, avatars, profile picture, profile image, display name, nickname, bio,
    account page, account settings, change email, change phone number, userprofile, avatar_url`,
  "closing accounts": `delete account, account deletion, delete my account, close account, erase, erasure, right to be
    forgotten, gdpr, dsgvo, personal data, data subject, subject access, export my data, anonymise, anonymize,
    pseudonymise, pii, retention, retention period, privacy, consent, cookie consent, ccpa, data protection, hash
    e-mail, mask, masking, redact, recordings deletion`,
  "secrets in code": `secret, secrets, leaked key, hardcoded password, plain text, plaintext, committed, committed by
    accident, api key, api keys, vault, hashicorp vault, kms, secret manager, sealed secrets, sops, env file, .env,
    gitleaks, trufflehog, credentials in repo, rotate credentials, connection string, via secret, password in the code`,
  attacks: `attack, attacker, hacker, hackers, hacked, injection, sql injection, sqli, xss, cross-site scripting,
    csrf, ssrf, path traversal, zip slip, deserialization, rce, remote code execution, exploit, vulnerability,
    vulnerabilities, cve, pentest, penetration test, security audit, owasp, sanitise, sanitize, escape html, prepared
    statement, csp, content security policy, clickjacking, open redirect, malicious, script tag, security hole,
    prototype pollution`,
  "too many tries": `brute force, brute-force, credential stuffing, rate limit, rate limiting, rate limiter,
    rate-limit, throttle, throttling, 429, too many requests, token bucket, leaky bucket, sliding window, limit per
    ip, guessing passwords, hammering, flood, ddos, denial of service, bots, scrapers, captcha, recaptcha, turnstile,
    waf, abuse, quota, quotas, quota exceeded, requests per minute, api limit, burst`,
  certificates: `certificate, certificates, cert, tls, ssl, https, mtls, mutual tls, let's encrypt, letsencrypt,
    cert-manager, acme, expired certificate, certificate expires, padlock, not secure, connection is not private,
    browser warning, handshake, cipher suite, ca, root ca, chain of trust, pem, keystore, client certificate, x509,
    self-signed, pinning, certbot`,
  encryption: `encrypt, encryption, encrypted, decrypt, decryption, at rest, end-to-end encryption, e2ee, aes, rsa,
    gcm, nonce, salt, bcrypt, argon2, scrypt, hash passwords, password hash, hashing, key derivation, signal protocol,
    pgp, gpg, crypto, libsodium, openssl`,
  "who did it": `audit, audit log, audit trail, who changed, who deleted, who did, change history, history of changes,
    traceability, activity log, event log, compliance log, tamper, tamper-proof, sox, iso 27001, soc 2, logbook of
    changes, changelog of records, changed_by`,
  moderation: `spam, moderation, moderate, report abuse, offensive, insults, insult, hate speech, toxic, bad words,
    profanity, trolls, block user, ban, banned, shadow ban, flagged, flag content, nsfw, fake accounts, blocklist,
    swearing, harassment`,
  "remote access": `vpn, wireguard, openvpn, ipsec, remote staff, home office, from home, intranet, bastion, jump
    host, ssh, ssh key, tunnel, zero trust, tailscale, zscaler, firewall, firewall rule, security group, cidr, subnet,
    ip allowlist, whitelist ip, private network, reach the server, can't reach`,
  "guessing addresses": `guess urls, guessable, enumerate ids, sequential ids, id in the url, change the id, idor,
    signed url, expiring link, share link without login, public link, unlisted, uuid in url, someone else's invoice,
    open other people's, access other records, any invoice`,
  "too weak codes": `guess coupon, guess codes, random code, entropy, short codes, code generator, predictable,
    password strength, password policy, password rules, weak passwords, pwned passwords, zxcvbn, common passwords,
    minimum length`,
  "logging in all day": `log in fifty times, badge login, tap to login, tap badge, shared computer, shared
    workstation, kiosk login, fast user switching, auto lock, screen lock, pin login, logs in again and again`,
  "dangerous uploads": `virus, virus scan, clamav, malware, executable upload, svg upload, content type sniffing, mime
    type, file type check, polyglot, zip bomb, infected, virus definitions`,
  "machine users": `service account, api token, api tokens, personal access token, machine to machine, client
    credentials, scopes, token scope, api clients, partner access, revoke token, developer portal`,
  "data abroad": `data residency, eu region, data centre in europe, schrems, subprocessor, data processing agreement,
    dpa, cross-border, sovereign, on-premises, self-hosted`,
  "watching the network": `siem, intrusion, ids, anomaly login, login from another country, impossible travel, new
    device mail, suspicious login, security event, honeypot, dependency scanning, sast, trivy, snyk, image scanning,
    sbom`,
  "login loops": `redirect loop, login loop, too many redirects, keeps asking to log in, back to the login page,
    endless redirect, callback url, state mismatch, cookie not set, third-party cookies, samesite none, land on a 403,
    redirected to login`,
  "stolen devices": `lost phone, stolen laptop, remote wipe, recovery codes, backup codes, lost the phone, new phone,
    device management, mdm, sign out everywhere, revoke sessions, active sessions, logged-in devices, end all sessions`,
  "guests and links": `guest access, guest user, share with outsiders, external users, public share, view only,
    read-only link, link expiry, password protected link, invite external, collaborators`,
  "children and consent": `parental consent, parents' consent, under 16, coppa, age gate, guardian, minors, child
    account, consent form`,
};
