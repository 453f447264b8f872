/** How long a message stays in the inbox (messaging.md §11): 90 days. */
export const NOTIFICATION_LIFE_MS = 90 * 86_400_000;
