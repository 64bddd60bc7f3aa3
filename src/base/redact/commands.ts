/** Passwords that stand in a command behind a flag of one letter, which says so only with that command. */
import { createRedaction } from "./behind.ts";

/** What may stand between a command and the flag. */
const BETWEEN = String.raw`\s(?:[^\s|;&][^\n|;]{0,300}?\s)??`;

/** Up to where the password begins. */
const COMMANDS: readonly string[] = [
  // `-u name:password`
  String.raw`(?:curl|wget|https?|xh)${BETWEEN}(?:-u|-U|-a|--(?:proxy-)?user|--auth)[ =]?["']?[^\s:"'/]{0,128}:`,
  // `-p password`, `-ppassword`
  String.raw`(?:sshpass|7za?|(?:un)?rar)${BETWEEN}-p ?`,
  String.raw`(?:mysql|mariadb)[\w-]{0,20}${BETWEEN}-p(?=["']?[^\s"'])`,
  String.raw`(?:redis|valkey)-cli${BETWEEN}-a `,
  String.raw`(?:docker|podman|helm|oras|buildah|nerdctl|skopeo|az|cf|oc|faas-cli)\s(?:[\w-]{1,20} ){0,3}?login${BETWEEN}-p[ =]?`,
  String.raw`(?:mongo\w{0,20}|useradd|usermod|cqlsh|rdesktop|psexec)${BETWEEN}-p `,
  String.raw`(?:sqlcmd|bcp|ipmitool|mosquitto_\w{3}|(?:un)?zip)${BETWEEN}-P ?`,
  String.raw`ldap\w{1,12}${BETWEEN}-w `,
  String.raw`ssh-keygen${BETWEEN}-[NP] `,
  String.raw`snmp\w{1,12}${BETWEEN}-[AXc] `,
  String.raw`openssl${BETWEEN}(?:-pass(?:in|out)? pass:|-k )`,
  String.raw`xfreerdp${BETWEEN}\/p:`,
  // `-u name,password`, `-U name%password`, `file name password`
  String.raw`lftp${BETWEEN}-u ["']?[^\s,]{1,64},`,
  String.raw`smbclient${BETWEEN}-U ["']?[^\s%]{1,64}%`,
  String.raw`htpasswd${BETWEEN}-\w{0,6}b\w{0,6} (?:\S{1,200} )?\S{1,64} `,
  String.raw`wpa_passphrase \S{1,64} `,
  String.raw`rabbitmqctl (?:add_user|change_password) \S{1,64} `,
  String.raw`ACL SETUSER \S{1,64}${BETWEEN}>`,
  String.raw`net user \S{1,64} (?=\S{2,128} \/\w)`,
  String.raw`net use${BETWEEN}\/user:\S{1,64} `,
  String.raw`(?:sqlplus|expdp|impdp|sqlldr|rman)${BETWEEN}(?:target )?["']?[\w$#.-]{1,64}\/(?=[^\s/]{2,128}@)`,
  // In PowerShell, and of switches.
  String.raw`ConvertTo-SecureString (?:-String )?(?=["'])`,
  String.raw`snmp-server community (?=\S{2,64} R[OW]\b)`,
  // Written into another command.
  String.raw`echo (?:-n )?["']?(?:[\w.-]{1,64}:)?(?=[^\s"'|:]{3,256}["']?\s?\|\s?(?:sudo )?(?:chpasswd|sudo -\w{0,4}S|passwd|cryptsetup))`,
  String.raw`(?:${[
    "kinit|passwd|cryptsetup|ssh-add|vault login|pass insert|gh (?:auth|secret)",
    String.raw`sudo (?:-\w{1,4} (?:\w{1,32} )?){0,3}?-\w{0,4}S|su (?:-l? )?(?:\w{1,32} )?-c`,
    String.raw`(?:docker|podman|helm|npm|az|oc) (?:[\w-]{1,20} ){0,2}?(?:login|secret create)`,
    `(?:gpg${BETWEEN}--passphrase-fd|openssl${BETWEEN}-pass(?:in|out)?) ?\\S{1,20}`,
  ].join("|")})${BETWEEN}<<<\s?`,
  // `.netrc`
  String.raw`machine\s{1,4}\S{1,200}\s{1,10}login\s{1,4}\S{1,200}\s{1,10}password\s{1,4}`,
];

export const redactCommands = createRedaction({
  before: String.raw`\b(?:${COMMANDS.join("|")})`,
  mark: / (?:-[\w-]|\/[pu]\w{0,3}:|<<<|community )|net user |(?:echo|machine|rabbitmqctl|SETUSER|wpa_passphrase|sqlplus|expdp|impdp|sqlldr|rman)\s/,
});
