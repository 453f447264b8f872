/** The Node that everything but the first step runs on. */
export function nodeOf(root: string): string;
/** Why the installed packages are not those of package-lock.json, or undefined when they are. */
export function staleness(root: string): string | undefined;
/** Installs with `npm ci` where that is needed. Throws an Error of one sentence when npm fails. */
export function ensureInstalled(root: string, say?: (line: string) => void): void;
/** Runs a program under the installed Node in this terminal, passes signals on, ends as it ends. */
export function continueUnderNode(root: string, script: string, args: string[]): void;
