import { CONSOLE_PATHS, consoleConfig, readConfig } from '@customer-platform/config';

/** The address of a page of the Console. */
export function consoleAddress(page: keyof typeof CONSOLE_PATHS = 'home'): string {
  const { CONSOLE_URL, PUBLIC_URL } = readConfig(consoleConfig);
  return `${CONSOLE_URL ?? PUBLIC_URL}${CONSOLE_PATHS[page]}`;
}
