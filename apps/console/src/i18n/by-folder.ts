import type { Messages } from './messages.ts';

/** `../home/messages.en.json` → `home`. */
export function byFolder(files: Record<string, Messages[keyof Messages]>): Messages {
  const named = Object.entries(files).map(([path, texts]) => [path.split('/')[1], texts]);
  return Object.fromEntries(named) as Messages;
}
