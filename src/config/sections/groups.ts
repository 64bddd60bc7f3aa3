/** When the agent answers in groups. */

export interface GroupsConfig {
  /** When the agent answers in a group that says nothing else. */
  activation: "mention" | "always";
  /** Regular expressions that count as a mention, besides the platform's own. */
  mentionPatterns: string[];
  /** How many messages before a mention the agent is shown. */
  historyLimit: number;
}

export const DEFAULT_GROUPS: GroupsConfig = { activation: "mention", mentionPatterns: [], historyLimit: 50 };
